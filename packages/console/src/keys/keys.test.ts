// The text of a pressed key.

import { expect, test } from 'vitest'
import { keyOfEvent } from './keys.ts'

const none = { ctrlKey: false, metaKey: false, altKey: false }

test.each([
  ['j', none, 'j'],
  [' ', none, 'Space'],
  ['K', { ...none, ctrlKey: true }, 'mod+k'],
  ['n', { ...none, altKey: true }, 'alt+n'],
  // On the keyboards of many countries, brackets need Option.
  ['[', { ...none, altKey: true }, '['],
  ['}', { ...none, altKey: true }, '}'],
])('%s with %o is %s', (key, modifiers, text) => {
  expect(keyOfEvent({ key, ...modifiers })).toBe(text)
})
