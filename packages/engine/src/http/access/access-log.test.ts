import { describe, expect, test } from 'vitest'
import {
  anEndedRun,
  apiKey,
  aRun,
  eventually,
  listen,
  openStream,
  postJson,
  testApp,
} from '../../../../../test/kit/http/test-app.ts'

describe('the access log', () => {
  test('has method, route, status, duration and request id of every request', async () => {
    const { app, logged } = await testApp({ logLevel: 'debug' })
    const response = await app.inject('/runs/run_404?_token=hunter2')
    expect(logged).toHaveLength(1)
    expect(logged[0]).toMatchObject({
      level: 20,
      method: 'GET',
      route: '/runs/:id',
      status: 404,
      durationMs: expect.any(Number),
      requestId: response.headers['x-request-id'],
      msg: 'request',
    })
    expect(logged[0]).not.toHaveProperty('aborted')
  })

  test('never has keys, queries, bodies or hostile paths', async () => {
    const { app, logged } = await testApp({ logLevel: 'debug', config: { apiKeys: [apiKey('hunter2')] } })
    const headers = { authorization: 'Bearer hunter2' }
    await postJson(app, '/events?_key=hunter2', '{"name":"n","data":"hunter2"}', headers)
    await app.inject({ url: '/runs?app=hunter2', headers })
    await app.inject({ url: '/hunter2', headers })
    await app.inject({ url: '/hunter2%ff', headers })
    await app.inject({ url: '/runs', headers: { authorization: 'Bearer hunter2x' } })
    expect(logged.map(line => line.status)).toEqual([202, 200, 404, 400, 401])
    expect(JSON.stringify(logged)).not.toContain('hunter2')
  })

  test('never has a run token, whatever becomes of its request, and no answer repeats one', async () => {
    const { app, logged, seed } = await testApp({ logLevel: 'trace', config: { apiKeys: [apiKey('k')] } })
    await seed({ type: 'run.created', run: anEndedRun() })
    const key = { authorization: 'Bearer k' }
    const token = (await app.inject({ method: 'POST', url: '/runs/run_1/tokens', headers: key })).json().token as string
    const before = logged.length
    const requests: [string, object, number][] = [
      ['/runs/run_1', {}, 200],
      ['/runs/run_1/result', {}, 200],
      ['/runs/run_1/stream', {}, 200],
      ['/runs/run_1', { headers: key }, 200],
      ['/runs/run_2', {}, 403],
      ['/runs', {}, 403],
      ['/runs', { headers: key }, 400],
      ['/runs/run_1', { method: 'PUT' }, 405],
      ['/nowhere', {}, 404],
      ['/runs/%ff', {}, 400],
      ['/runs/run_1/tokens', { method: 'POST', headers: key }, 400],
    ]
    const texts: string[] = []
    for (const [path, options, status] of requests) {
      const answer = await app.inject({ ...options, url: `${path}?token=${token}` })
      expect(answer.statusCode, path).toBe(status)
      texts.push(answer.body, JSON.stringify(answer.headers))
    }
    const wrong = await app.inject(`/runs/run_1?token=${token}x`)
    const { body: metrics } = await app.inject({ url: '/metrics', headers: key })
    expect(wrong.statusCode).toBe(401)
    expect(logged).toHaveLength(before + requests.length + 1)
    for (const text of [...texts, wrong.body, metrics, JSON.stringify(logged)]) expect(text).not.toContain(token)
  })

  test('has control actions at level info, and nothing else', async () => {
    const { app, logged } = await testApp({ logLevel: 'info' })
    await app.inject('/runs')
    await postJson(app, '/events', '{"name":"n"}')
    await app.inject('/nowhere')
    await app.inject({ method: 'POST', url: '/runs/run_1/cancel' })
    expect(logged.map(line => line.route)).toEqual(['/runs/:id/cancel'])
  })

  test('has a stream once, when the client disconnected', async () => {
    const { app, logged, seed } = await testApp({ logLevel: 'debug' })
    await seed({ type: 'run.created', run: aRun() })
    const stream = await openStream(await listen(app), '/runs/run_1/stream')
    expect(logged).toEqual([])
    stream.disconnect()
    await eventually(() => logged.length > 0)
    expect(logged[0]).toMatchObject({ route: '/runs/:id/stream', status: 200, aborted: true })
  })
})
