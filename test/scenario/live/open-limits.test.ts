// Bounds on the open streams and sockets of one namespace and one API key (docs/limits.md#bounds).

import { expect, test } from 'vitest'
import { Api, openEngine, openRunner, returned, unique, until } from '../../kit/index.ts'
import { ConnectClient, dialAs } from '../../kit/runner/connect-client.ts'

const keyOf = (label: string) => `secret-key-of-${label}`
const key = (label: string, namespace: string) => ({ label: 'same', namespace, kind: 'secret', key: keyOf(label) })
const env = {
  ENGINE_API_KEYS: JSON.stringify([key('ann', 'team'), key('ben', 'team'), key('cid', 'team'), key('dan', 'other')]),
  ENGINE_STREAM_LIMIT: '5',
  ENGINE_KEY_STREAM_LIMIT: '2',
  ENGINE_SOCKET_LIMIT: '5',
  ENGINE_KEY_SOCKET_LIMIT: '2',
}
const engine = await openEngine({ env })

/** Opens a stream; returns its status and the body of a refusal, and closes it. */
async function openStream(label: string, path = '/runs/stream') {
  const stop = new AbortController()
  const headers = { authorization: `Bearer ${keyOf(label)}` }
  const response = await fetch(engine.url + path, { headers, signal: stop.signal })
  const retryAfter = response.headers.get('retry-after')
  const problem = response.status === 200 ? undefined : ((await response.json()) as { error: object }).error
  return { status: response.status, problem, retryAfter, close: () => stop.abort() }
}

const refusedBy = (setting: keyof typeof env) => ({
  status: 429,
  retryAfter: '1',
  problem: {
    code: 'rate_limited',
    message: expect.stringContaining(setting),
    details: { setting, limit: Number(env[setting]) },
  },
})

test('streams are bounded per key and per namespace, and every end makes room', async () => {
  const api = new Api(() => engine.url, keyOf('ann'))
  const name = unique('ended')
  const runner = await openRunner({ workflows: { [name]: () => returned() } })
  await runner.register(api)
  const { runId } = await api.send({ name })
  await api.succeeded(runId)
  for (let round = 0; round < 3; round++) {
    const held = [
      await openStream('ann'),
      await openStream('ann', '/events/stream'),
      await openStream('ben'),
      await openStream('ben'),
      await openStream('cid'),
    ]
    expect(held.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(await openStream('ann')).toMatchObject(refusedBy('ENGINE_KEY_STREAM_LIMIT'))
    expect(await openStream('ann', `/runs/${runId}/stream`)).toMatchObject(refusedBy('ENGINE_KEY_STREAM_LIMIT'))
    expect(await openStream('cid')).toMatchObject(refusedBy('ENGINE_STREAM_LIMIT'))
    const elsewhere = await openStream('dan')
    expect(elsewhere.status).toBe(200)
    for (const { close } of [...held, elsewhere]) close()
    await until(async () => !/^perdure_streams_open\{.*\} [1-9]/m.test((await api.get('/metrics')).text))
  }
  // Streams that end by themselves, and streams of runs that do not exist, take no place either.
  for (let i = 0; i < 5; i++) {
    const response = await fetch(`${engine.url}/runs/${runId}/stream`, {
      headers: { authorization: `Bearer ${keyOf('ann')}` },
    })
    expect(await response.text()).toContain('succeeded')
    expect((await api.get('/runs/run_nope/stream')).status).toBe(404)
  }
})

test('sockets are bounded per key and per namespace, and a closed one makes room', async () => {
  const dial = (label: string) => dialAs(engine.url, { app: 'shop', runner: unique('r') }, { key: keyOf(label) })
  /** The status of a refused upgrade. */
  const refusalOf = (label: string) => {
    const client = new ConnectClient(engine.url, { key: keyOf(label) })
    return until(() => client.refused)
  }
  const held = [await dial('ann'), await dial('ann'), await dial('ben'), await dial('ben'), await dial('cid')]
  expect(await refusalOf('ann')).toBe(429)
  expect(await refusalOf('cid')).toBe(429)
  await dial('dan')
  const [first] = held as [ConnectClient]
  first.ws.close()
  await first.closes()
  await dial('cid')
  expect(await refusalOf('ann')).toBe(429)
})

test('without keys the namespace is bounded alone', async () => {
  const open = await openEngine({ env: { ENGINE_STREAM_LIMIT: '3', ENGINE_KEY_STREAM_LIMIT: '1' } })
  const stop = new AbortController()
  const statuses: number[] = []
  for (let i = 0; i < 4; i++) statuses.push((await fetch(`${open.url}/runs/stream`, { signal: stop.signal })).status)
  stop.abort()
  expect(statuses).toEqual([200, 200, 200, 429])
})
