import { KEY_CHARS_MAX } from '@perdure/protocol'
import { expect, it } from 'vitest'
import { boundedKey } from './bounded-key.ts'

it.each(['', 'a', 'é'.repeat(KEY_CHARS_MAX), '\ud800'])('a short key is itself', key => {
  expect(boundedKey(key)).toBe(key)
})

it('a longer one is a digest of one length, the same for the same key', () => {
  const [one, other] = [boundedKey('a'.repeat(257)), boundedKey('😀'.repeat(70_000))]
  expect([one, other].map(key => key.length)).toEqual([50, 50])
  expect(one).toBe(boundedKey('a'.repeat(257)))
  expect(one).not.toBe(other)
})

it('long keys that differ in their last character, or in a lone surrogate stay different', () => {
  const long = 'a'.repeat(256)
  const keys = ['b', 'c', '\ud800', '\ud801', '\ufffd', 'b\0'].map(end => boundedKey(long + end))
  expect(new Set(keys).size).toBe(keys.length)
})
