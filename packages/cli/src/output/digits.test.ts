import { expect, test } from 'vitest'
import { parseDigits, stringifyDigits } from './digits.ts'

test.each([
  '{"id":9007199254740993,"n":-12345678901234567890,"list":[0.1234567890123456789]}',
  '{"text":"a \\"9007199254740993\\" b","more":[],"small":7,"half":0.5}',
  '18446744073709551615',
])('%s is written as it was read', text => {
  expect(stringifyDigits(parseDigits(text))).toBe(text)
})

test('other values are those of JSON', () => {
  expect(parseDigits('{"a":1234567890123456,"b":"1234567890123456789","c":null}')).toEqual({
    a: 1234567890123456,
    b: '1234567890123456789',
    c: null,
  })
  expect(() => parseDigits('{"a":12345678901234567x}')).toThrow(SyntaxError)
  expect(stringifyDigits({ a: [1] }, 2)).toBe(JSON.stringify({ a: [1] }, undefined, 2))
})
