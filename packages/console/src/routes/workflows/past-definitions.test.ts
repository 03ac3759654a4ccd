import type { PastDefinition } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { changedParts, definitionAt, definitionChanges } from './past-definitions.ts'

const retry = { maxAttempts: 5, initialMs: 1000, factor: 2, maxMs: 300_000, jitter: 0.2 }
const at = (minute: number, definition: Partial<PastDefinition['definition']> = {}): PastDefinition => ({
  hash: `h${minute}`,
  registeredAt: `2026-01-01T00:0${minute}:00.000Z`,
  definition: { triggers: [{ event: 'a' }], retry, onFailure: false, ...definition },
})
const list = [at(9, { onFailure: true, triggers: [] }), at(5, { flowControl: { priority: '1' } }), at(2)]

test.each([
  ['2026-01-01T00:09:00.000Z', 'h9'],
  ['2026-01-01T00:08:59.999Z', 'h5'],
  ['2026-01-01T00:02:00.000Z', 'h2'],
  ['2026-01-01T00:01:59.999Z', undefined],
])('at %s the definition that counts is %s', (time, hash) => {
  expect(definitionAt(list, time)?.hash).toBe(hash)
})

test('a change names the parts that differ, also those that only one definition has', () => {
  expect(definitionChanges(list).map(({ text }) => text)).toEqual([
    'the definition changed: triggers, failure handler, flow control',
    'the definition changed: flow control',
    'the oldest stored definition',
  ])
  expect(changedParts(at(1), at(2))).toBe('')
})
