import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { POLITE_GAP_MS, PoliteTurns } from './polite-turns.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Turns, with the spoken messages and their times. */
function opened() {
  const from = performance.now()
  const spoken: [string, number][] = []
  const turns = new PoliteTurns()
  const ask = (text: string, options = {}) =>
    turns.ask(() => void spoken.push([text, performance.now() - from]), options)
  return { spoken, ask }
}

test('the first message is spoken at once, the others in turn, with the gap between them', async () => {
  const { spoken, ask } = opened()
  for (const text of ['a', 'b']) ask(text)
  await vi.advanceTimersByTimeAsync(1000)
  ask('toast', { isFirst: true })
  await vi.advanceTimersByTimeAsync(60_000)
  const gaps = [0, 1, 2].map(turn => turn * POLITE_GAP_MS)
  expect(spoken).toEqual([
    ['a', gaps[0]],
    ['toast', gaps[1]],
    ['b', gaps[2]],
  ])
  ask('later')
  await vi.advanceTimersByTimeAsync(0)
  expect(spoken[3]).toEqual(['later', 61_000])
})

test('a message that is withdrawn takes no turn', async () => {
  const { spoken, ask } = opened()
  ask('a')
  await vi.advanceTimersByTimeAsync(1000)
  const leave = ask('b')
  ask('c')
  leave()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(spoken.map(([text]) => text)).toEqual(['a', 'c'])
})
