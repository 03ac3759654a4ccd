// CEL in triggers, waits and keys; and a hundred expressions that try to run for long.

import { describe, expect, it, test } from 'vitest'
import { Expression, ExpressionError, type Scope } from './expression.ts'
import { heavy, many, tooLarge } from './hostile.testkit.ts'

const event = {
  id: 'evt_1',
  name: 'order.paid',
  data: { amount: 150, country: 'FR', vip: true, note: null, tags: ['a', 'b'], lines: [{ sku: 'x', n: 2 }] },
}
const scope: Scope = { event }
const holds = (source: string) => new Expression(source, 'condition').holds(scope)

describe('a condition', () => {
  test.each([
    ['event.data.amount > 100', true],
    ['event.data.amount == 150 && event.data.country in ["DE", "FR"]', true],
    ['event.name.startsWith("order.")', true],
    ['event.data.vip', true],
    ['event.data.note == null', true],
    ['has(event.data.missing)', false],
    ['event.data.lines.exists(l, l.sku == "x" && l.n > 1)', true],
    ['event.data.lines.all(l, event.data.tags.exists(t, t == l.sku))', false],
    ['event.data.amount * 2 + 0.5 == 300.5 && event.data.amount % 100 == 50', true],
    ['event.data.country.matches("^[A-Z]{2}$")', true],
    ['"a,b".split(",")[1] == "b"', true],
    ['event.data.tags.size() == 2', true],
  ])('%s is %s', (source, value) => {
    expect(holds(source)).toEqual({ ok: true, value })
  })

  test.each([
    ['event.data.missing > 1', 'No such key: missing'],
    ['event.data.country > 1', 'no such overload'],
    ['event.data.amount', 'the condition gives a number, not a bool'],
    ['event.data.lines[7].n == 1', 'index'],
    ['event.data.constructor == null', 'No such key: constructor'],
    ['event.data.__proto__ == null', 'No such key: __proto__'],
  ])('%s cannot be evaluated: %s', (source, error) => {
    expect(holds(source)).toEqual({ ok: false, error: expect.stringContaining(error) })
  })

  it('in a wait also has the event that arrived', () => {
    const same = new Expression('async.data.id == event.data.id', 'condition', { inWait: true })
    const holds = (id: number) =>
      same.holds({ event: { name: 'a', data: { id: 1 } }, async: { name: 'b', data: { id } } })
    expect(holds(1)).toEqual({ ok: true, value: true })
    expect(holds(2)).toEqual({ ok: true, value: false })
  })
})

test.each([
  ['event.data.country', 'FR'],
  ['event.data.amount', '150'],
  ['event.data.vip', 'true'],
  ['event.data.note', 'null'],
  ['event.data.country + "/" + string(event.data.amount)', 'FR/150'],
  ['7', '7'],
])('the key %s is %s', (source, value) => {
  expect(new Expression(source, 'key').key(scope)).toEqual({ ok: true, value })
})

test('a key that is a list or a map is none', () => {
  expect(new Expression('event.data.tags', 'key').key(scope)).toMatchObject({ ok: false })
  expect(() => new Expression('[1]', 'key')).toThrow('gives list')
})

test.each([
  ['event.data.vip ? 10 : 0', 10],
  ['event.data.amount / 10', 15],
  ['-3', -3],
])('the number %s is %d', (source, value) => {
  expect(new Expression(source, 'number').number(scope)).toEqual({ ok: true, value })
})

describe('is refused with its place and reason', () => {
  test.each([
    ['event.data.amount >', 19, 'Unexpected token'],
    ['amount > 1', 0, 'Unknown variable: amount'],
    ['event.data.x == 1 && async.data.y == 2', 21, 'Unknown variable: async'],
    ['1 + 1', 0, 'gives int, not a bool'],
    ['"a" > 1', 0, 'no such overload'],
    ['event.name.matches("(")', 19, 'not RE2'],
    ['event.name.matches("(a)\\\\1")', 19, 'not RE2'],
    ['event.nope(1)', 0, 'no matching overload'],
    ['', 0, 'Unexpected token'],
  ])('%s', (source, position, reason) => {
    const compile = () => new Expression(source, 'condition')
    expect(compile).toThrow(ExpressionError)
    expect(compile).toThrow(reason)
    try {
      compile()
    } catch (error) {
      expect((error as ExpressionError).position).toBe(position)
    }
  })
})

describe('a runaway expression', () => {
  test.each(tooLarge)('does not compile: %s', (_, source) => {
    expect(() => new Expression(source, 'condition')).toThrow(ExpressionError)
  })

  it('is tried in a hundred ways', () => {
    expect(tooLarge.length + heavy.length).toBeGreaterThanOrEqual(100)
  })

  test.each(heavy)('is bounded: %s', (source, data) => {
    let expression: Expression
    try {
      expression = new Expression(source, 'condition')
    } catch (error) {
      expect(error).toBeInstanceOf(ExpressionError)
      return
    }
    const result = expression.holds({ event: { name: 'big', data } })
    // Either is fine: the evaluation ended. The benchmark measures how long it took.
    expect(typeof result.ok).toBe('boolean')
    if (!result.ok) expect(result.error).not.toContain('\n')
  })

  it('has the same reads whenever it is tried: not enough for a walk through all of a large event', () => {
    const walk = new Expression('event.data.all(x, x >= 0)', 'condition')
    expect(walk.holds({ event: { name: 'a', data: many } })).toEqual({
      ok: false,
      error: expect.stringContaining('too much'),
    })
    expect(walk.holds({ event: { name: 'a', data: many.slice(0, 5000) } })).toEqual({
      ok: true,
      value: true,
    })
  })
})
