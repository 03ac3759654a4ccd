import { describe, expect, test } from 'vitest'
import { aRun, eventually, listen, openStream, postJson, testApp } from '../http.testkit.ts'

describe('the access log', () => {
  test('tells method, route, status, duration and request id of every request', async () => {
    const { app, faces } = testApp({ logLevel: 'debug' })
    const response = await app.inject('/runs/run_404?token=hunter2')
    expect(faces.logged).toHaveLength(1)
    expect(faces.logged[0]).toMatchObject({
      level: 20,
      method: 'GET',
      route: '/runs/:id',
      status: 404,
      durationMs: expect.any(Number),
      requestId: response.headers['x-request-id'],
      msg: 'request',
    })
    expect(faces.logged[0]).not.toHaveProperty('aborted')
  })

  test('never tells keys, queries, bodies or hostile paths', async () => {
    const { app, faces } = testApp({ logLevel: 'debug' })
    faces.addKey('hunter2', {})
    const headers = { authorization: 'Bearer hunter2' }
    await postJson(app, '/events?key=hunter2', '{"name":"n","data":"hunter2"}', headers)
    await app.inject({ url: '/runs?app=hunter2', headers })
    await app.inject({ url: '/hunter2', headers })
    await app.inject({ url: '/hunter2%ff', headers })
    await app.inject({ url: '/runs', headers: { authorization: 'Bearer hunter2x' } })
    expect(faces.logged.map(line => line.status)).toEqual([202, 200, 404, 400, 401])
    expect(JSON.stringify(faces.logged)).not.toContain('hunter2')
  })

  test('has control actions at level info, and nothing else', async () => {
    const { app, faces } = testApp({ logLevel: 'info' })
    await app.inject('/runs')
    await postJson(app, '/events', '{"name":"n"}')
    await app.inject('/nowhere')
    await app.inject({ method: 'POST', url: '/runs/run_1/cancel' })
    expect(faces.logged.map(line => line.route)).toEqual(['/runs/:id/cancel'])
  })

  test('leaves the probes out', async () => {
    const { app, faces } = testApp({ logLevel: 'trace' })
    await app.inject('/healthz')
    await app.inject('/readyz')
    expect(faces.logged).toEqual([])
  })

  test('has a stream once, when the client has left', async () => {
    const { app, faces } = testApp({ logLevel: 'debug' })
    faces.shelf().runRows.set('run_1', aRun({ status: 'running' }))
    const stream = await openStream(await listen(app), '/runs/run_1/stream')
    expect(faces.logged).toEqual([])
    stream.disconnect()
    await eventually(() => faces.logged.length > 0)
    expect(faces.logged[0]).toMatchObject({ route: '/runs/:id/stream', status: 200, aborted: true })
  })
})
