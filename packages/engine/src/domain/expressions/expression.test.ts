// CEL in triggers, waits and keys; and hundreds of expressions that try to run for long.

import { describe, expect, it, onTestFinished, test } from 'vitest'
import { FUNCTION_COSTS } from './cost.ts'
import { EVENT_ENVIRONMENT } from './environment.ts'
import {
  boundCompiledExpressions,
  compiled,
  compiledExpressions,
  Expression,
  ExpressionError,
  type Scope,
} from './expression.ts'
import { heavy, many, tooLarge } from './hostile.testkit.ts'
import { generateHostile } from './hostile-generator.testkit.ts'
import { Meter, WORK_MAX } from './meter.ts'
import { EVENT_PATTERN_CHARS_MAX, PATTERN_SIZE_MAX } from './pattern.ts'

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
    ['event.data.amount', 'the condition evaluates to a number, not a bool'],
    ['event.data.lines[7].n == 1', 'index'],
    ['event.data.constructor == null', 'No such key: constructor'],
    ['event.data.__proto__ == null', 'No such key: __proto__'],
  ])('%s cannot be evaluated: %s', (source, error) => {
    expect(holds(source)).toEqual({ ok: false, error: expect.stringContaining(error) })
  })

  test.each([
    ['duration(event.data.country) > duration("1s")', 'Invalid duration string'],
    ['event.data[event.data.country] == 1', 'No such key'],
  ])('the error of %s has no value of the event', (source, error) => {
    expect(holds(source)).toEqual({ ok: false, error })
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
  ['event.data.note', null],
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

describe('the work of an evaluation', () => {
  const TOO_MUCH = { ok: false, error: expect.stringContaining('too much work') }
  const text = 'ab'.repeat(8 * 1024)
  const over = (source: string, data: unknown, meter?: Meter) =>
    new Expression(source, 'condition').holds({ event: { name: 'big', data } }, meter)

  test.each([
    ['event.data.l.all(x, event.data.l.all(y, !event.data.t.matches("([ab]*a){10}$")))', 'a match'],
    ['event.data.l.all(x, event.data.l.all(y, !event.data.t.contains("zz")))', 'contains'],
    ['event.data.l.all(x, event.data.l.all(y, event.data.t.lastIndexOf(event.data.t + "c") < 0))', 'lastIndexOf'],
    ['event.data.l.all(x, event.data.l.all(y, event.data.t.size() > 0))', 'size'],
    ['event.data.l.all(x, event.data.l.all(y, (event.data.t + event.data.t) != ""))', 'concatenation'],
    ['event.data.l.all(x, event.data.l.all(y, event.data.t.upperAscii() != ""))', 'upperAscii'],
    ['event.data.l.all(x, event.data.l.all(y, event.data.t <= event.data.t + "a"))', 'an order'],
    ['event.data.l.all(x, event.data.l.all(y, string(bytes(event.data.t)) == event.data.t))', 'conversions'],
    ['event.data.l.all(x, event.data.l.all(y, !(event.data.t in event.data.n)))', 'membership'],
    ['event.data.l.all(x, event.data.l.all(y, event.data.n + event.data.n != event.data.n))', 'lists'],
    ['event.data.l.all(x, event.data.n.all(y, timestamp(0).getHours("Europe/Paris") > 0))', 'time zones'],
    ['event.data.n.exists(x, x.missing || x.absent || x.lost)', 'errors'],
  ])('is bounded: %s (%s)', source => {
    const data = { t: text, l: many.slice(0, 100), n: many.slice(0, 1000) }
    expect(over(source, data)).toEqual(TOO_MUCH)
  })

  it('is too much although the rest of the expression could do without', () => {
    expect(over('event.data.all(x, x >= 0) || true', many)).toEqual(TOO_MUCH)
  })

  it('is the same whenever it is tried', () => {
    const works = [1, 2].map(() => {
      const meter = new Meter()
      over('event.data.all(x, x.matches("a+b?$"))', ['a', 'aa', 'aab'], meter)
      return meter.spent
    })
    expect(works[0]).toBe(works[1])
    expect(works[0]).toBeLessThan(10_000)
  })

  it('leaves room for usual filters over large events', () => {
    const lines = many.slice(0, 1000).map(i => ({ sku: `sku-${i}`, note: 'x'.repeat(100) }))
    expect(over('event.data.lines.exists(l, l.sku == "sku-999")', { lines })).toEqual({ ok: true, value: true })
    expect(over('event.data.t.contains("zz")', { t: 'a'.repeat(1024 * 1024) })).toEqual({ ok: true, value: false })
    expect(over('event.data.t.matches("^[a-z]+$")', { t: 'a'.repeat(8000) })).toEqual({ ok: true, value: true })
  })

  it('has a cost for every function of the environment', () => {
    const macros = ['has', 'all', 'exists', 'exists_one', 'map', 'filter', 'bind']
    const functions = EVENT_ENVIRONMENT.getDefinitions()
      .functions.filter(({ signature }) => !signature.toLowerCase().includes('optional'))
      .map(({ name }) => name)
    expect(functions.length).toBeGreaterThan(50)
    expect([...new Set(functions)].filter(name => !(name in FUNCTION_COSTS) && !macros.includes(name))).toEqual([])
  })

  test('a duration, which takes the cube of its length to read, and a time zone are short', () => {
    expect(over('duration(event.data) > duration("1s")', '9'.repeat(2000))).toEqual({
      ok: false,
      error: 'the text of a duration has more than 64 characters',
    })
    expect(over('timestamp(0).getHours(event.data) > 0', 'x'.repeat(100))).toMatchObject({ ok: false })
  })

  it('of 150 generated expressions ends within its bound, and nothing of them is kept', { timeout: 60_000 }, () => {
    const before = compiledExpressions()
    let ended = 0
    for (const { source, data } of generateHostile(20_261, 150)) {
      const meter = new Meter()
      try {
        const result = over(source, data, meter)
        if (!result.ok) ended++
        expect(result.ok && meter.spent > WORK_MAX, source).toBe(false)
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error
      }
    }
    expect(ended).toBeGreaterThan(50)
    expect(compiledExpressions()).toEqual(before)
  })
})

describe('a pattern', () => {
  const byEvent = new Expression('event.data.t.matches(event.data.p)', 'condition')
  const matching = (p: string, meter?: Meter) => byEvent.holds({ event: { name: 'a', data: { t: 'aaaa', p } } }, meter)

  it('that the event brings is short, and small once it is compiled', () => {
    expect(matching('^a{2,4}$')).toEqual({ ok: true, value: true })
    for (let i = 0; i < 23; i++) {
      const long = `${'\\pL{1000}'.repeat(350).slice(0, 2790)}${i}`
      expect(matching(long)).toEqual({
        ok: false,
        error: `a computed pattern has more than ${EVENT_PATTERN_CHARS_MAX} characters`,
      })
    }
    for (const large of ['\\pL{1000}', '((a{10}){10}){10}', 'a{1000}'.repeat(28), '(?:\\pL|\\pN){20}']) {
      expect(matching(large)).toEqual({ ok: false, error: expect.stringContaining('instructions, more than 250') })
    }
  })

  it('that the event brings is compiled at the expense of the evaluation: once for all elements of a loop', () => {
    const each = new Expression('event.data.p.all(p, "aaaa".matches(p))', 'condition')
    const spent = (p: string[]) => {
      const meter = new Meter()
      const result = each.holds({ event: { name: 'a', data: { p } } }, meter)
      return { ...result, spent: meter.spent }
    }
    expect(spent(Array(100).fill('^a'))).toMatchObject({ ok: true, value: true })
    expect(spent(many.slice(0, 100).map(i => `^a|${i}`))).toMatchObject({ ok: false })
  })

  it('that the author wrote is refused with the expression when its program is too large', () => {
    const of = (pattern: string) => () => new Expression(`event.name.matches("${pattern}")`, 'condition')
    expect(of('^[a-z]{1,200}$')).not.toThrow()
    for (const large of ['(a{100}){100}', '\\\\pL{500}', 'a{1000}b{1000}']) {
      expect(of(large)).toThrow(
        new RegExp(`pattern that is too large: about \\d+ instructions, and ${PATTERN_SIZE_MAX}`),
      )
    }
  })
})

const BYTES = 4 * 1024 * 1024

test('compiled expressions are kept up to a bound on memory, the newest of them', () => {
  const filter = (i: number) =>
    `async.data.id == event.data.id && "${'x'.repeat(1500)}${i}" != "" && event.name.matches("a${i}")`
  boundCompiledExpressions(BYTES)
  onTestFinished(() => boundCompiledExpressions(128 * 1024 * 1024))
  for (let i = 0; i < 60; i++) compiled(filter(i), 'condition', { inWait: true })
  const { count, bytes } = compiledExpressions()
  expect(bytes).toBeLessThanOrEqual(BYTES)
  expect(count).toBeLessThan(60)
  const newest = compiled(filter(59), 'condition', { inWait: true })
  expect(compiled(filter(59), 'condition', { inWait: true })).toBe(newest)
  expect(compiledExpressions().count).toBe(count)
})
