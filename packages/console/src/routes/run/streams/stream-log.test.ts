// Messages of output streams as a log: rollbacks of one step, repeated messages, and the texts that are shown.

import { expect, test } from 'vitest'
import { newest, StreamLog, type StreamMessage, textParts } from './stream-log.ts'

const logOf = (...batches: StreamMessage[][]) => {
  const log = new StreamLog()
  for (const batch of batches) log.add(batch)
  return log
}
const shown = (log: StreamLog) =>
  textParts(log.entries).map(part =>
    part.kind === 'text' ? `${part.withdrawnBy ? '-' : ''}${part.step}#${part.attempt}:${part.text}` : part.kind,
  )

test('a rollback withdraws the chunks of its step alone, from its number on', () => {
  const log = logOf([
    { n: 0, chunk: 'kept ', step: 'a', attempt: 1 },
    { n: 1, chunk: 'lost', attempt: 1 },
    { n: 2, chunk: 'other', step: 'b', attempt: 1 },
    { n: 3, rollback: 1, step: 'a', attempt: 1, reason: 'failed' },
    { n: 4, chunk: 'again', attempt: 2 },
    { n: 5, end: 'succeeded' },
  ])
  expect(shown(log)).toEqual(['a#1:kept ', '-a#1:lost', 'b#1:other', 'rollback', 'a#2:again', 'end'])
  expect(log.chunks).toBe(3)
  expect(log.entries[3]).toMatchObject({ reason: 'failed', count: 1 })
})

test('a message that comes again changes nothing, and the step of those after it is known', () => {
  const log = logOf([{ n: 0, chunk: 'a', step: 's', attempt: 2 }])
  expect(log.add([{ n: 0, chunk: 'a', step: 's', attempt: 2 }])).toBe(false)
  expect(
    log.add([
      { n: 0, chunk: 'a', step: 's', attempt: 2 },
      { n: 1, chunk: { x: 1 } },
    ]),
  ).toBe(true)
  expect(log.entries.map(({ n }) => n)).toEqual([0, 1])
  expect(log.entries[1]).toMatchObject({ step: 's', attempt: 2 })
  expect(shown(log)).toEqual(['s#2:a'])
})

test('the newest entries are bounded by their number and by their characters', () => {
  const { entries } = logOf(Array.from({ length: 9 }, (_, n) => ({ n, chunk: 'abcd', step: 's', attempt: 1 })))
  const firstOf = (bounds: Parameters<typeof newest>[1]) => newest(entries, bounds)[0]?.n
  expect([firstOf({ count: 3, chars: 100 }), firstOf({ count: 9, chars: 8 }), firstOf({ count: 9, chars: 1 })]).toEqual(
    [6, 7, 8],
  )
})
