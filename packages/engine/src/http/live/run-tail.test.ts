import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import type { StoredFrame } from '../../domain/view/timeline-frames.ts'
import { RunTail } from './run-tail.ts'

const frame = (seq: number): StoredFrame => ({
  kind: 'run_status',
  seq,
  ts: '2024-01-02T03:04:05.678Z',
  runId: 'run_1',
  status: 'running',
  attempt: 1,
})

function setUp() {
  const clock = new VirtualClock()
  const tail = new RunTail()
  const next = async (after: number) => (await tail.next(after, clock, 1000))?.map(({ seq }) => seq)
  return { clock, tail, next }
}

describe('RunTail', () => {
  test('passes on frames that follow without a gap, from one unit or several', async () => {
    const { tail, next } = setUp()
    const waiting = next(4)
    tail.notify([frame(5), frame(6)])
    tail.notify([frame(7)])
    expect(await waiting).toEqual([5, 6, 7])
  })

  test('frames that the stream has read are not sent again', async () => {
    const { tail, next } = setUp()
    tail.notify([frame(3), frame(4)])
    tail.notify([frame(5)])
    expect(await next(4)).toEqual([5])
    tail.notify([frame(5)])
    expect(await next(5)).toEqual([])
  })

  test.each([
    ['one is missing before', 4, [frame(6)]],
    ['one is missing between', 4, [frame(5), frame(7)]],
    ['they come out of order', 4, [frame(6), frame(5)]],
  ])('the store is read when %s', async (_, after, frames) => {
    const { tail, next } = setUp()
    for (const one of frames) tail.notify([one])
    expect(await next(after)).toBeUndefined()
  })

  test('the store is read when a commit came without its frames', async () => {
    const { tail, next } = setUp()
    tail.notify([frame(5)])
    tail.notify(undefined)
    tail.notify([frame(6)])
    expect(await next(4)).toBeUndefined()
    tail.notify([frame(7)])
    expect(await next(6)).toEqual([7])
  })

  test('the store is read when nothing comes in time, or the wait is ended', async () => {
    const { clock, tail, next } = setUp()
    const late = next(4)
    await clock.advance(1000)
    expect(await late).toBeUndefined()
    const ended = next(4)
    tail.endWait()
    expect(await ended).toBeUndefined()
    expect(clock.timerCount).toBe(0)
  })

  test('keeps no more than a bound for a client that does not read', async () => {
    const { tail, next } = setUp()
    for (let seq = 1; seq <= 1001; seq++) tail.notify([frame(seq)])
    expect(await next(0)).toBeUndefined()
  })
})
