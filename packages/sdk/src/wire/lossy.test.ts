import { createContext, runInContext } from 'node:vm'
import { expect, test } from 'vitest'
import { bigIntIn, lossOf } from './lossy.ts'

class Order {
  id = 1
}

class Usage {
  get usage() {
    return 1
  }
}

class Answer extends Usage {
  steps = []
  get text(): string {
    throw new Error('not called')
  }
}

test.each<[unknown, string]>([
  [new Map([[1, 2]]), 'a Map, stored as {} (Object.fromEntries(map) can be stored)'],
  [{ tags: new Set() }, 'a Set at "tags", stored as {} ([...set] can be stored)'],
  [{ sum: [1, Number.NaN] }, 'NaN at "sum.1", stored as null'],
  [[Number.POSITIVE_INFINITY], 'Infinity at "0", stored as null'],
  [Number.NaN, 'NaN, stored as null'],
  [() => 1, 'a function, stored as null'],
  [{ a: () => 1 }, 'a function at "a", left out'],
  [{ order: new Order() }, 'an instance of Order at "order", stored as a plain object of its own fields'],
  [new Error('no'), 'an instance of Error, stored as a plain object of its own fields'],
  [
    { answer: new Answer() },
    'an instance of Answer at "answer", stored as a plain object of its own fields, without its getters text, usage (a plain object of what you need can be stored)',
  ],
  [
    { raw: Buffer.from('x') },
    'a Buffer at "raw", stored as its bytes (Buffer.from(bytes).toString("base64") can be stored)',
  ],
  [
    { a: undefined, b: Number.NaN, c: () => 1, d: Symbol('x'), e: Number.NaN },
    'NaN at "b", stored as null; a function at "c", left out; a symbol at "d", left out',
  ],
])('%o is not stored as it is', (value, loss) => {
  expect(lossOf(value)).toBe(loss)
})

test.each<[unknown]>([
  [undefined],
  [null],
  ['text'],
  [1],
  [{ a: [{ b: null }], c: new Date(0), d: undefined, e: [undefined] }],
  [Object.create(null)],
  [runInContext('({ a: [1] })', createContext({}))],
])('%o is stored as it is', value => {
  expect(lossOf(value)).toBeUndefined()
})

test('circles and large values end', () => {
  const circle: Record<string, unknown> = {}
  circle.self = circle
  expect(lossOf(circle)).toBeUndefined()
  expect(lossOf(Array(100_000).fill(1))).toBeUndefined()
})

test('the place of a BigInt', () => {
  expect(bigIntIn({ order: { total: 1n } })).toBe(' at "order.total"')
  expect(bigIntIn(1n)).toBe('')
  expect(bigIntIn({ total: 1 })).toBeUndefined()
})
