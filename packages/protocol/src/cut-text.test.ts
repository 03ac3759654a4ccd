import { expect, test } from 'vitest'
import { cutText } from './cut-text.ts'

test.each([
  ['', 3, ''],
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc…'],
  ['😀😀😀', 3, '😀😀😀'],
  ['ab😀d', 3, 'ab😀…'],
  ['😀😀😀😀', 3, '😀😀😀…'],
  ['abc', 0, '…'],
  // Half a character in the text itself counts as one.
  ['\ud83dabc', 2, '\ud83da…'],
])('%j cut to %i characters', (text, charsMax, cut) => {
  expect(cutText(text, charsMax, '…')).toBe(cut)
})
