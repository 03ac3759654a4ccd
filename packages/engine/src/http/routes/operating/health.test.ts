import { describe, expect, test } from 'vitest'
import { aRun, eventually, listen, openStream, testApp } from '../../http.testkit.ts'

describe('GET /healthz', () => {
  test('is ok while the listener serves, whatever the store does', async () => {
    const { app, faces } = testApp()
    faces.readiness = () => Promise.reject(new Error('down'))
    const response = await app.inject('/healthz')
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual({ status: 'ok' })
  })
})

describe('GET /readyz', () => {
  const answer = async (readiness: object | Error) => {
    const { app, faces } = testApp({ logLevel: 'info' })
    const { draining = false, ...rest } = readiness as { draining?: boolean }
    faces.readiness = async () => {
      if (readiness instanceof Error) throw readiness
      return { ready: true, checks: {}, draining, ...rest }
    }
    const response = await app.inject('/readyz')
    return { status: response.statusCode, body: response.json(), text: response.body, logged: faces.logged }
  }

  test('ready', async () => {
    const { status, body } = await answer({ checks: { store: 'ok', queue: 'ok' } })
    expect([status, body]).toEqual([200, { status: 'ready', checks: { store: 'ok', queue: 'ok' } }])
  })

  test('a dependency is unavailable', async () => {
    const { status, body } = await answer({ ready: false, checks: { store: 'unavailable' } })
    expect([status, body]).toEqual([503, { status: 'not_ready', checks: { store: 'unavailable' } }])
  })

  test('draining, although everything works', async () => {
    const { status, body } = await answer({ checks: { store: 'ok' }, draining: true })
    expect([status, body]).toEqual([503, { status: 'not_ready', checks: { store: 'ok' }, draining: true }])
  })

  test('the probe itself fails: the reason is in the log alone', async () => {
    const { status, body, text, logged } = await answer(new Error('connect ECONNREFUSED 10.0.0.7'))
    expect([status, body]).toEqual([503, { status: 'not_ready', checks: { store: 'unavailable' } }])
    expect(text).not.toContain('10.0.0.7')
    expect(JSON.stringify(logged)).toContain('10.0.0.7')
  })

  test('while the app closes', async () => {
    const { app, faces } = testApp()
    faces.shelf().runRows.set('run_1', aRun({ status: 'running' }))
    const port = await listen(app)
    const stream = await openStream(port, '/runs/run_1/stream')
    stream.pause()
    let release = (): void => {}
    faces.send = () => new Promise(resolve => (release = () => resolve({ deduped: true })))
    const headers = { 'content-type': 'application/json' }
    const url = `http://127.0.0.1:${port}`
    const inFlight = fetch(`${url}/events`, { method: 'POST', headers, body: '{"name":"n"}' })
    await eventually(() => faces.sent.length === 1)
    const closed = app.close()
    const ready = await fetch(`${url}/readyz`)
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { status: 'not_ready', checks: { store: 'ok' }, draining: true },
    ])
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    release()
    expect((await inFlight).status).toBe(202)
    await closed
  })
})
