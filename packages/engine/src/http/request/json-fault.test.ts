// The place where a text stops being JSON.

import { expect, it } from 'vitest'
import { jsonFault } from './json-fault.ts'

it.each<[string, number, number, boolean]>([
  ['', 1, 1, true],
  ['{"name": "a"', 1, 13, true],
  ['{"name": "a', 1, 12, true],
  ['{"name": "a",}', 1, 14, false],
  ['{\n  "name": "a",\n  data: 1\n}', 3, 3, false],
  ["{'name': 1}", 1, 2, false],
  ['{"a": undefined}', 1, 7, false],
  ['{"a": 01}', 1, 8, false],
  ['[1 2]', 1, 4, false],
  ['{"a": "x\ny"}', 1, 9, false],
  ['{"a": "\\q"}', 1, 8, false],
  ['{"a": 1}}', 1, 9, false],
  ['{"a" 1}', 1, 6, false],
  ['[}', 1, 2, false],
  ['# no', 1, 1, false],
])('%j: line %i, column %i', (text, line, column, isEnd) => {
  expect(jsonFault(text)).toEqual({ line, column, isEnd })
})

it('agrees with JSON.parse about every text that differs from JSON in one character', () => {
  const text = '{"a":[1,-2.5e+3,true,null,{}],"b\\u00e9\\n":{"c":"x","d":[]}, "e" : false }'
  const isJson = (text: string) => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  for (let at = 0; at <= text.length; at++) {
    for (const put of ['', ...'"\\{}[],:01e-.t \n\u0001']) {
      for (const removed of [0, 1, 2]) {
        const changed = text.slice(0, at) + put + text.slice(at + removed)
        expect([changed, jsonFault(changed) === undefined]).toEqual([changed, isJson(changed)])
      }
    }
  }
})
