import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchesEvent } from './matching.ts'

describe('an event trigger', () => {
  it.each([
    ['order.placed', 'order.placed', true],
    ['order.placed', 'order.placed.twice', false],
    ['order.placed', 'Order.placed', false],
    ['order.*', 'order.placed', true],
    ['order.*', 'order.', true],
    ['order.*', 'order', false],
    ['*', 'anything', true],
    ['or*er', 'order', false],
    ['or*er', 'or*er', true],
    ['a.b', 'axb', false],
  ])('on %s meets %s: %s', (event, name, meets) => {
    expect(matchesEvent({ event }, name)).toBe(meets)
  })

  it('meets its own name, and with a trailing * every longer one', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), (name, more) => {
        fc.pre(!name.endsWith('*'))
        expect(matchesEvent({ event: name }, name)).toBe(true)
        expect(matchesEvent({ event: `${name}*` }, name + more)).toBe(true)
        expect(matchesEvent({ event: name }, name + more)).toBe(more === '')
      }),
    )
  })
})

it('a cron trigger meets no event', () => {
  expect(matchesEvent({ cron: '* * * * *' }, '* * * * *')).toBe(false)
})
