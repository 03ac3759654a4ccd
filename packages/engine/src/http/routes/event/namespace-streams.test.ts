import { describe, expect, test } from 'vitest'
import type { RunMove } from '../../access/deps.ts'
import {
  anEvent,
  eventually,
  type Faces,
  listen,
  type OpenStream,
  openStream,
  refusal,
  testApp,
} from '../../http.testkit.ts'

const ts = Date.parse('2024-01-02T03:04:05.678Z')
const move = (seq: number, fields: Partial<RunMove> = {}): RunMove => ({
  runId: 'run_1',
  seq,
  ts,
  status: 'running',
  attempt: 1,
  ...fields,
})
const OPENING = 'retry: 2000\n\n'

type Tell = (faces: Faces, n: number, namespace?: string) => void

/** Both streams, how something is told on each, and what it is known by. */
const streams: [path: string, tell: Tell, mark: (n: number) => string][] = [
  [
    '/runs/stream',
    (faces, n, namespace = 'default') => faces.live.moves.publish(namespace, move(n)),
    n => `"seq":${n},`,
  ],
  [
    '/events/stream',
    (faces, n, namespace = 'default') => faces.live.events.publish(namespace, anEvent({ id: `evt_${n}` })),
    n => `"evt_${n}"`,
  ],
]

test('a move of a run is a run_status frame, without an id: there is nothing to resume from', async () => {
  const { app, faces } = testApp()
  const stream = await openStream(await listen(app), '/runs/stream')
  faces.live.moves.publish('default', move(2_000_001, { status: 'failed', attempt: 3 }))
  await stream.saw('failed')
  const data =
    '{"kind":"run_status","seq":2000001,"ts":"2024-01-02T03:04:05.678Z","runId":"run_1","status":"failed","attempt":3}'
  expect(stream.text()).toBe(`${OPENING}event: run_status\ndata: ${data}\n\n`)
})

test('an event is its record with its kind, the data to the letter but on one line', async () => {
  const { app, faces } = testApp()
  const stream = await openStream(await listen(app), '/events/stream')
  const data = '{"n":12345678901234567890.10,\r\n"s":"a\\nb\u2028",\n"e":"\\ud800"}'
  faces.live.events.publish('default', anEvent({ app: 'shop', source: 'emit', woke: 2, data }))
  await stream.saw('data:')
  const head =
    '{"kind":"event","id":"evt_1","name":"order/created","app":"shop","source":"emit",' +
    '"receivedAt":"2024-01-02T03:04:05.678Z","woke":2,"triggered":[]'
  const line = '{"n":12345678901234567890.10,  "s":"a\\nb\u2028", "e":"\\ud800"}'
  expect(stream.text()).toBe(`${OPENING}event: event\ndata: ${head},"data":${line}}\n\n`)
})

describe.each(streams)('%s', (path, tell, mark) => {
  test('has the headers that keep proxies from holding it back', async () => {
    const { app } = testApp()
    const { status, headers } = await openStream(await listen(app), path)
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
  })

  test('tells from the moment of connecting on, and nothing of before, whatever is asked', async () => {
    const { app, faces } = testApp()
    const port = await listen(app)
    tell(faces, 1)
    const stream = await openStream(port, `${path}?from=0`, { 'last-event-id': '0' })
    expect(stream.text()).toBe(OPENING)
    tell(faces, 2)
    await stream.saw('data:')
    expect(stream.text().match(/^event: /gm)).toHaveLength(1)
  })

  test('tells each client of its own namespace only', async () => {
    const { app, faces } = testApp()
    faces.addKey('a', { namespace: 'one', kind: 'read' })
    faces.addKey('b', { namespace: 'two', kind: 'read' })
    const port = await listen(app)
    const open = (key: string) => openStream(port, path, { authorization: `Bearer ${key}` })
    const [one, two] = [await open('a'), await open('b')]
    tell(faces, 1, 'one')
    tell(faces, 2, 'two')
    for (const stream of [one, two]) await stream.saw('data:')
    expect([one.text().includes(mark(1)), one.text().includes(mark(2))]).toEqual([true, false])
    expect([two.text().includes(mark(1)), two.text().includes(mark(2))]).toEqual([false, true])
  })

  test('needs a key that may read', async () => {
    const { app, faces } = testApp()
    faces.addKey('k', { kind: 'event' })
    expect(refusal(await app.inject(path))).toBe('401 unauthorized')
    const headers = { authorization: 'Bearer k' }
    expect(refusal(await app.inject({ url: path, headers }))).toBe('403 forbidden')
    expect(faces.listening).toBe(0)
  })

  test('is GET alone', async () => {
    const { app } = testApp()
    for (const method of ['HEAD', 'PUT', 'PATCH', 'DELETE'] as const) {
      const { statusCode, headers } = await app.inject({ method, url: path })
      expect([method, statusCode, headers.allow]).toEqual([method, 405, 'GET'])
    }
  })

  test('keeps quiet connections alive', async () => {
    const { app, faces } = testApp()
    const stream = await openStream(await listen(app), path)
    for (const beats of [1, 2]) {
      faces.clock.advance(15_000)
      await stream.saw(': keep-alive\n\n'.repeat(beats))
    }
    expect(stream.text()).toBe(`${OPENING}: keep-alive\n\n: keep-alive\n\n`)
  })

  test('a client that leaves leaves nothing behind', async () => {
    const { app, faces } = testApp()
    const port = await listen(app)
    const all = await Promise.all([1, 2, 3].map(() => openStream(port, path)))
    expect(faces.listening).toBe(3)
    for (const stream of all) stream.disconnect()
    await eventually(() => faces.listening === 0)
    tell(faces, 1)
    expect(faces.clock.timers.size).toBe(0)
  })

  test('ends in order when the app closes', async () => {
    const { app, faces } = testApp()
    const port = await listen(app)
    const all = await Promise.all([1, 2, 3].map(() => openStream(port, path)))
    await app.close()
    expect(await Promise.all(all.map(stream => stream.over))).toEqual([true, true, true])
    expect([faces.listening, faces.clock.timers.size]).toEqual([0, 0])
  })

  test('a client that does not read is dropped, and delays nobody', async () => {
    const { app, faces } = testApp({ limits: { unreadFrames: 1000 } })
    const port = await listen(app)
    const [stuck, reader] = [await openStream(port, path), await openStream(port, path)]
    stuck.pause()
    let told = 0
    // Only when the socket's own buffers are full does anything pile up here.
    for (let round = 0; round < 1000 && faces.listening === 2; round++) {
      for (let i = 0; i < 150; i++) tell(faces, ++told)
      await eventually(() => tail(reader).includes(mark(told)))
    }
    expect(faces.listening).toBe(1)
    tell(faces, ++told)
    await eventually(() => tail(reader).includes(mark(told)))
    expect(reader.text().match(/^event: /gm)).toHaveLength(told)
    stuck.resume()
    expect(await stuck.over).toBe(false)
    expect(stuck.text().length).toBeLessThan(reader.text().length)
  })
})

test('/runs/stream is a path of its own, not the run of that id', async () => {
  const { app, faces } = testApp()
  const stream = await openStream(await listen(app), '/runs/stream')
  expect(stream.status).toBe(200)
  expect(faces.shelves.get('default')?.calls ?? []).toEqual([])
})

/** The end of what has arrived: a long text is not searched again and again. */
const tail = (stream: OpenStream): string => stream.text().slice(-300)
