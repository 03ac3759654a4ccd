import { WorkflowRegistrationSchema } from '@perdure/protocol/schema'
import { describe, expect, test } from 'vitest'
import { unknownMembers } from './unknown-members.ts'

const problemsOf = (value: unknown, max = 10) =>
  unknownMembers(WorkflowRegistrationSchema, value, max).map(({ problem }) => problem)

describe('unknown members', () => {
  test('none in a value that has only known ones, or is of another type', () => {
    expect(problemsOf({ name: 'w', retry: { maxAttempts: 3 }, concurrency: { limit: 1 } })).toEqual([])
    for (const value of [null, undefined, 1, 'name', [], [{ nam: 1 }]]) expect(problemsOf(value)).toEqual([])
  })

  test('at any depth: in objects, lists and unions, with the nearest known name', () => {
    const value = {
      nam: 'w',
      triggers: [{ event: 'x' }, { evnt: 'y' }],
      retry: { maxAttempt: 3 },
      concurrency: [{ limit: 1, scpe: 'app' }],
    }
    expect(problemsOf(value)).toEqual([
      '"nam" is not known here; did you mean "name"?',
      '"triggers[1].evnt" is not known here; did you mean "event"?',
      '"retry.maxAttempt" is not known here; did you mean "maxAttempts"?',
      '"concurrency[0].scpe" is not known here; did you mean "scope"?',
    ])
    expect(problemsOf({ concurrency: { limt: 1 } })).toEqual([
      '"concurrency.limt" is not known here; did you mean "limit"?',
    ])
  })

  test('inherited names are not known', () => {
    expect(problemsOf(JSON.parse('{"constructor":1,"__proto__":{"a":1}}'))).toHaveLength(2)
  })

  test('no more than wanted, and none is long', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${'x'.repeat(1000)}${i}`, 1]))
    const [first, ...rest] = unknownMembers(WorkflowRegistrationSchema, many, 3)
    expect(rest).toHaveLength(2)
    expect(first?.field).toHaveLength(256)
    expect(first?.problem.length).toBeLessThan(500)
  })
})
