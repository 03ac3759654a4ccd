// Matches: which events have the values, and that the keys of waits and events are equal exactly then.

import type { EventMatch } from '@perdure/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventSubject } from './event-subject.ts'
import { eventMatchKey, isMatched, pathsOf, waitMatchKey } from './match.ts'

const subject = (data: string | undefined) => new EventSubject({ name: 'event', data })

/** Whether the event is found by the key of the wait, and whether it has its values: they must agree. */
function meets(match: EventMatch, trigger: string | undefined, event: string | undefined): boolean {
  const found = eventMatchKey(pathsOf(match), subject(event)) === waitMatchKey(match, { name: 'start', data: trigger })
  expect(isMatched(match, subject(event), subject(trigger))).toBe(found)
  return found
}

describe('values', () => {
  it.each<[match: Record<string, string | number | boolean | null>, data: string | undefined, meets: boolean]>([
    [{ 'data.id': 1 }, '{"id":1}', true],
    [{ 'data.id': 1 }, '{"id":1.0}', true],
    [{ 'data.id': 1 }, '{"id":"1"}', false],
    [{ 'data.id': '1' }, '{"id":1}', false],
    [{ 'data.id': 0 }, '{"id":-0}', true],
    [{ 'data.id': true }, '{"id":"true"}', false],
    [{ 'data.id': null }, '{"id":null}', true],
    [{ 'data.id': null }, '{}', false],
    [{ 'data.id': null }, undefined, false],
    [{ 'data.id': 'a' }, '{"id":["a"]}', false],
    [{ 'data.id': 1 }, '{"id":{"id":1}}', false],
    [{ 'data.a.b': 'x', 'data.c': 2 }, '{"c":2,"a":{"b":"x"},"d":3}', true],
    [{ 'data.a.b': 'x', 'data.c': 2 }, '{"c":2,"a":{"b":"y"}}', false],
    [{ data: 'word' }, '"word"', true],
    [{ 'data.length': 4 }, '"word"', false],
    [{ 'data.0': 1 }, '[1]', false],
    [{ 'data.constructor': 'x' }, '{}', false],
    [{ 'data.constructor': 'x' }, '{"constructor":"x"}', true],
    [{ 'data.a': 'x\n"y"' }, '{"a":"x\\n\\"y\\""}', true],
  ])('%j and the event %s: %s', (match, data, expected) => {
    expect(meets(match, undefined, data)).toBe(expected)
  })

  it('of two paths do not run into each other', () => {
    expect(meets({ 'data.a': 'x', 'data.b': 'y' }, undefined, '{"a":"x\\ny","b":""}')).toBe(false)
  })
})

describe('paths', () => {
  it.each<[match: EventMatch, trigger: string | undefined, data: string, meets: boolean]>([
    ['data.id', '{"id":1}', '{"id":1}', true],
    ['data.id', '{"id":1}', '{"id":"1"}', false],
    ['data.id', '{}', '{}', false],
    ['data.id', undefined, '{"id":1}', false],
    ['data.id', '{"id":{"a":1}}', '{"id":{"a":1}}', false],
    ['data.id', '{"id":1840000000000000001}', '{"id":1840000000000000001}', true],
    ['data.id', '{"id":1840000000000000001}', '{"id":1840000000000000002}', false],
    [['data.b', 'data.a', 'data.b'], '{"a":1,"b":2}', '{"a":1,"b":2}', true],
    [['data.b', 'data.a'], '{"a":1,"b":2}', '{"a":2,"b":1}', false],
  ])('%j, started by %s, and the event %s: %s', (match, trigger, data, expected) => {
    expect(meets(match, trigger, data)).toBe(expected)
  })

  it('are found exactly where all values are the same', () => {
    const value = fc.oneof(
      fc.constantFrom(1, '1', true, 'true', null, 'null', [], {}, undefined),
      fc.string(),
      fc.double(),
    )
    fc.assert(
      fc.property(fc.tuple(value, value), fc.tuple(value, value), ([a, b], [c, d]) => {
        const scalar = (one: unknown) => one === null || ['string', 'number', 'boolean'].includes(typeof one)
        const texts = [
          { a, b },
          { a: c, b: d },
        ].map(data => JSON.stringify(data)) as [string, string]
        const [own, sent] = texts.map(text => JSON.parse(text)) as [Record<string, unknown>, Record<string, unknown>]
        const same = ['a', 'b'].every(name => scalar(own[name]) && own[name] === sent[name])
        expect(meets(['data.a', 'data.b'], ...texts)).toBe(same)
      }),
    )
  })
})
