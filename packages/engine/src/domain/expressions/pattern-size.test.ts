// The estimate of a pattern's size is never below the size of its program.

import { RE2JS } from 're2js'
import { expect, test } from 'vitest'
import { patternSize } from './pattern-size.ts'

test.each([
  '',
  'a',
  'abc',
  'a|b|cc|',
  '^[A-Z]{2}$',
  '(a+)+$b',
  '((a{30}){30})',
  'a{1000}',
  'a{3,}',
  'a{0,7}b{4}?',
  '(a?){100}',
  '(?:a?){50}[ab]{50}',
  '(?P<name>x+y*z?)+',
  '(?i)straße|ſ',
  '[^]a-z\\d[:alpha:]]{9}',
  '\\Qa{1000}\\E+',
  '\\x{10FFFF}\\pL\\p{Greek}{3}',
  '\\b(?:\\w+\\W+){1,30}z',
  '(((((a|b){2}|c){2}|d){2}|e){2}|f){2}',
  'a{,3}{x}',
])('%s', pattern => {
  expect(patternSize(pattern)).toBeGreaterThanOrEqual(RE2JS.compile(pattern).programSize())
})

test('a pattern that would fill the memory is large', () => {
  expect(patternSize('\\pL{1000}')).toBeGreaterThan(10_000)
  expect(patternSize('((a{10}){10}){10}')).toBeGreaterThan(1000)
  expect(patternSize('^[^@ ]+@[^@ ]+[.][a-z]{2,10}$')).toBeLessThan(60)
})
