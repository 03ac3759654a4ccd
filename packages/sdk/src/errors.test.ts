// Which thrown values end a run or a step for good.

import { describe, expect, test } from 'vitest'
import { isFatal, isNonRetriable, NonRetriableError, RetryAfterError, StepFailedError } from './errors.ts'

const stored = new StepFailedError('pay', { message: 'declined' })

test.each([
  ['an ordinary error', new Error('x'), false],
  ['no error', 'text', false],
  ['a RetryAfterError', new RetryAfterError('x', 1), false],
  ['a NonRetriableError', new NonRetriableError('x'), true],
  ['a stored error', stored, true],
  ['an error caused by a stored one', new Error('x', { cause: new Error('y', { cause: stored }) }), true],
  ['an aggregate of stored errors', new AggregateError([stored, new NonRetriableError('x')]), true],
  ['an aggregate with another error', new AggregateError([stored, new Error('x')]), false],
  ['an empty aggregate', new AggregateError([]), false],
])('%s: fatal is %s', (_, thrown, fatal) => {
  expect(isFatal(thrown)).toBe(fatal)
})

test('a circle of causes comes to an end', () => {
  const circle = new Error('x')
  circle.cause = circle
  expect(isFatal(circle)).toBe(false)
})

test('errors of another copy of the SDK are recognised', () => {
  const foreign = Object.assign(new Error('x'), { [Symbol.for('perdure.non-retriable')]: true })
  expect(isNonRetriable(foreign)).toBe(true)
})

describe('RetryAfterError', () => {
  test.each(['soon', Number.NaN, -1, new Date('no date')])('refuses %s', after => {
    expect(() => new RetryAfterError('x', after)).toThrow('RetryAfterError: not a duration or a time')
  })
})

test('errors keep their causes', () => {
  const cause = new Error('why')
  expect(new NonRetriableError('x', { cause }).cause).toBe(cause)
  expect(new RetryAfterError('x', 1, { cause }).cause).toBe(cause)
})
