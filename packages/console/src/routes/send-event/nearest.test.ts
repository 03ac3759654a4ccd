// The name that was probably meant.

import { expect, test } from 'vitest'
import { nearest } from './nearest.ts'

test.each([
  ['order.place', 'order.placed'],
  ['ordr.placed', 'order.placed'],
  ['user/signedup', 'user/signed-up'],
  ['x', undefined],
  ['something.else', undefined],
])('%s is near %s', (name, expected) => {
  expect(nearest(name, ['order.placed', 'order.paid-late', 'user/signed-up'])).toBe(expected)
})
