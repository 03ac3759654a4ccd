import { expect, test } from 'vitest'
import { childTraceparent, readTraceparent, runTraceparent, spanIdOf, traceParts } from './traceparent.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

test('a traceparent is read as version 00, with the sampled flag alone', () => {
  expect(readTraceparent(`00-${TRACE}-${SPAN}-01`)).toBe(`00-${TRACE}-${SPAN}-01`)
  expect(readTraceparent(`00-${TRACE}-${SPAN}-02`)).toBe(`00-${TRACE}-${SPAN}-00`)
  expect(readTraceparent(`cc-${TRACE}-${SPAN}-03-what-comes-later`)).toBe(`00-${TRACE}-${SPAN}-01`)
})

test.each([
  undefined,
  ['00', TRACE],
  '',
  `00-${TRACE}-${SPAN}`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01-more`,
  `00-${TRACE}-${SPAN}-01\n`,
])('%s is no traceparent', header => {
  expect(readTraceparent(header)).toBeUndefined()
})

test('a run goes on in the trace of its event, else in one that follows from its id', () => {
  const trace = `00-${TRACE}-${SPAN}-00`
  expect(runTraceparent({ id: 'run_1', trace })).toBe(trace)
  const own = runTraceparent({ id: 'run_1' })
  expect(readTraceparent(own)).toBe(own)
  expect(runTraceparent({ id: 'run_1' })).toBe(own)
  expect(runTraceparent({ id: 'run_2' })).not.toBe(own)
})

test('a child keeps the trace and the flags of its parent', () => {
  const child = childTraceparent(`00-${TRACE}-${SPAN}-00`, spanIdOf(0, 0.5))
  expect(child).toBe(`00-${TRACE}-000000018${'0'.repeat(7)}-00`)
  expect(traceParts(child)).toEqual({ traceId: TRACE, spanId: '0000000180000000', flags: 0 })
})
