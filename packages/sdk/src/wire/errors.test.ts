// Errors: which thrown values are retried, and how they are stored.

import { InvalidDataError, NonRetriableError, PerdureError } from '@perdure/client'
import { describe, expect, test } from 'vitest'
import { isFatal, RetryAfterError, StepFailedError, toStepError } from './errors.ts'
import { ERROR_CHARS_MAX } from './limits.ts'

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

test('a cycle of causes ends', () => {
  const circle = new Error('x')
  circle.cause = circle
  expect(isFatal(circle)).toBe(false)
})

test('errors of another copy of the SDK are recognised', () => {
  const foreign = Object.assign(new Error('x'), { [Symbol.for('perdure.non-retriable')]: true })
  expect(foreign).toBeInstanceOf(NonRetriableError)
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

describe('a stored error', () => {
  test('has its causes of any type, and the first aggregated errors', () => {
    const cause = new AggregateError([new TypeError('first'), 'second'], 'all failed', { cause: { code: 7 } })
    const { name, message, stack } = toStepError(new RangeError('top', { cause }))
    expect({ name, message }).toEqual({ name: 'RangeError', message: 'top' })
    expect(stack).toMatch(
      /^RangeError: top\n[\s\S]*\nCaused by: AggregateError: all failed\n[\s\S]*\nContains: TypeError: first\n[\s\S]*\nContains: second\nCaused by: {"code":7}$/,
    )
  })

  test('a long stack does not cut off its cause, and all stay within the limit', () => {
    const long = 'x'.repeat(100_000)
    const { message, stack = '' } = toStepError(new Error(long, { cause: new Error(`why ${long}`) }))
    expect(message).toHaveLength(ERROR_CHARS_MAX + 3)
    expect(stack).toContain('\nCaused by: Error: why xxx')
    expect(stack.length).toBeLessThan(ERROR_CHARS_MAX + 100)
  })

  test('cycles and long chains end', () => {
    const circle = new Error('round')
    circle.cause = circle
    expect(toStepError(circle).stack?.match(/Caused by: /g)).toHaveLength(5)
    const bare = { message: 'bare', cause: undefined as unknown }
    bare.cause = bare
    expect(toStepError(bare)).toMatchObject({ name: 'Error', message: 'bare' })
  })
})

// `test/scenario/sdk/package.test.ts` tests errors of another copy, with the two builds.
describe('instanceof', () => {
  test('distinguishes the classes of the SDK, and those derived by authors', () => {
    class Declined extends NonRetriableError {}
    expect(new Declined('x')).toBeInstanceOf(Declined)
    expect(new Declined('x')).toBeInstanceOf(NonRetriableError)
    expect(new NonRetriableError('x')).not.toBeInstanceOf(Declined)
    expect(new NonRetriableError('x')).not.toBeInstanceOf(InvalidDataError)
    expect(new NonRetriableError('x')).not.toBeInstanceOf(RetryAfterError)
    expect(new Error('x')).not.toBeInstanceOf(PerdureError)
    expect(undefined).not.toBeInstanceOf(StepFailedError)
  })
})

describe('the detail of an error', () => {
  test('of a value that is no error, and of causes of any type', () => {
    expect(toStepError({ code: 7, reason: 'x' })).toMatchObject({ fields: { code: 7, reason: 'x' } })
    expect(toStepError(new Error('x', { cause: { code: 'E1', at: 3 } })).cause).toEqual({
      message: '{"code":"E1","at":3}',
      name: 'Error',
      code: 'E1',
      fields: { at: 3 },
    })
    expect(toStepError(new Error('x', { cause: 'why' })).cause).toEqual({ message: 'why', name: 'Error' })
  })

  test('a getter that throws costs the detail alone', () => {
    const error = Object.defineProperty(new Error('x'), 'bad', {
      enumerable: true,
      get: () => {
        throw new Error('no')
      },
    })
    expect(toStepError(Object.assign(error, { good: 1 }))).toMatchObject({ message: 'x', fields: { good: 1 } })
  })

  test('a number as code comes back as it was', () => {
    const error = new StepFailedError('pay', toStepError(Object.assign(new Error('x'), { code: 14 })))
    expect(error.code).toBe(14)
  })
})
