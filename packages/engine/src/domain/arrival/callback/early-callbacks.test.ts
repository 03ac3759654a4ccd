import { expect, test } from 'vitest'
import type { FlowRow } from '../../model/flow-row.ts'
import { EARLY_CALLBACKS_MAX, earlyCallbacks, keepCallback, takeCallback } from './early-callbacks.ts'

const RUN = { namespace: 'default', id: 'run_1' }
const keep = (row: FlowRow | null, stepId: string, data = '1'): FlowRow => {
  const change = keepCallback(RUN, row, { stepId, data, now: 5 })
  if (change.type !== 'flow.saved') throw new Error(change.type)
  return change.row
}

test('payloads are kept to the letter, under ids of any form, until they are taken', () => {
  const row = keep(keep(null, '__proto__', '1.0'), 'a"b', '{"n": 12345678901234567890}')
  expect([...earlyCallbacks(row)]).toEqual([
    ['__proto__', '1.0'],
    ['a"b', '{"n": 12345678901234567890}'],
  ])
  const taken = takeCallback(row, '__proto__')
  expect(taken).toMatchObject({
    type: 'flow.saved',
    row: { version: row.version + 1, state: '{"a\\"b":{"n": 12345678901234567890}}' },
  })
  expect(takeCallback(keep(null, 'a'), 'a')).toMatchObject({ type: 'flow.deleted' })
})

test('the row of a run that keeps callbacks again is not taken for the earlier one', () => {
  expect(keep(null, 'a').version).not.toBe(keep(null, 'b').version)
})

test('a run keeps at most so many', () => {
  const entries = Array.from({ length: EARLY_CALLBACKS_MAX - 1 }, (_, i) => `"s${i}":1`)
  const row = { ...keep(null, 'a'), state: `{${entries.join(',')}}` }
  const full = keep(row, 'last')
  expect(earlyCallbacks(full).size).toBe(EARLY_CALLBACKS_MAX)
  expect(() => keep(full, 'beyond')).toThrow(
    'keeps 1000 callbacks that no step waits for yet; a run keeps at most 1000',
  )
})

test('of 32 MiB in all', () => {
  const row = keep(null, 'a', JSON.stringify('x'.repeat(32 * 1024 * 1024 - 20)))
  expect(() => keep(row, 'b', '"1234567890"')).toThrow('33554432 characters')
})
