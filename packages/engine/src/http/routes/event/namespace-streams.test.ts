// The exact bytes of the streams of a namespace, and that they leave no listener or timer behind. test/scenario/live has
// the rest.

import { describe, expect, test } from 'vitest'
import { anEvent } from '../../../../../../test/kit/http/rows.ts'
import { eventually, openStream, streamApp } from '../../../../../../test/kit/http/stream.ts'

const OPENING = 'retry: 2000\n\n'
const ts = Date.parse('2024-01-02T03:04:05.678Z')

test('a move of a run is a run_status frame, without an id: there is nothing to resume from', async () => {
  const { port, live } = await streamApp()
  const stream = await openStream(port, '/runs/stream')
  const of = { runId: 'run_1', workflow: 'w', app: 'shop' }
  live.moves.publish('default', { ...of, seq: 2_000_001, ts, status: 'failed', attempt: 3, error: { message: 'no' } })
  await stream.saw('failed')
  const data =
    '{"kind":"run_status","seq":2000001,"ts":"2024-01-02T03:04:05.678Z","runId":"run_1","workflow":"w","app":"shop",' +
    '"status":"failed","attempt":3,"error":{"message":"no"}}'
  expect(stream.text()).toBe(`${OPENING}event: run_status\ndata: ${data}\n\n`)
})

test('an event is its record with its kind, its data unchanged but on one line', async () => {
  const { port, live } = await streamApp()
  const stream = await openStream(port, '/events/stream')
  const data = '{"n":12345678901234567890.10,\r\n"s":"a\\nb\u2028",\n"e":"\\ud800"}'
  live.events.publish('default', anEvent({ app: 'shop', source: 'emit', woke: 2, data }))
  await stream.saw('data:')
  const head =
    '{"kind":"event","id":"evt_1","name":"order/created","app":"shop","source":"emit",' +
    '"receivedAt":"2024-01-02T03:04:05.678Z","woke":2,"triggered":[]'
  const line = '{"n":12345678901234567890.10,  "s":"a\\nb\u2028", "e":"\\ud800"}'
  expect(stream.text()).toBe(`${OPENING}event: event\ndata: ${head},"data":${line}}\n\n`)
})

describe.each(['/runs/stream', '/events/stream'])('%s', path => {
  test('has the headers that keep proxies from holding it back, and keeps quiet connections alive', async () => {
    const { port, clock } = await streamApp()
    const stream = await openStream(port, path)
    expect(stream.status).toBe(200)
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    for (const count of [1, 2]) {
      await clock.advance(15_000)
      await stream.saw(': keep-alive\n\n'.repeat(count))
    }
    expect(stream.text()).toBe(`${OPENING}: keep-alive\n\n: keep-alive\n\n`)
  })

  test('leaves nothing behind when clients leave, and ends in order when the app closes', async () => {
    const { app, port, clock, listeners } = await streamApp()
    const [gone, ...rest] = await Promise.all([1, 2, 3].map(() => openStream(port, path)))
    expect(listeners()).toBe(3)
    gone?.disconnect()
    await eventually(() => listeners() === 2)
    expect(clock.timerCount).toBe(2)
    await app.close()
    expect(await Promise.all(rest.map(stream => stream.over))).toEqual([true, true])
    expect([listeners(), clock.timerCount]).toEqual([0, 0])
  })
})
