// HMAC-SHA-256 in code gives the same result as Node, at every length around a block.

import { createHash, createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { hmacSha256, sha256 } from '../../../packages/console/src/routes/webhooks/receivers/hmac.ts'

const bytesOf = (length: number, seed: number) => Uint8Array.from({ length }, (_, i) => (i * 31 + seed * 7) % 256)
const LENGTHS = [0, 1, 32, 54, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000, 100_003]

test.each(LENGTHS)('the digest of %d bytes', length => {
  const message = bytesOf(length, length)
  expect(Buffer.from(sha256(message)).toString('hex')).toBe(createHash('sha256').update(message).digest('hex'))
})

test.each(LENGTHS)('the signature with a key of %d bytes', length => {
  const [key, message] = [bytesOf(length, 1), bytesOf(777, 2)]
  const expected = createHmac('sha256', key).update(message).digest('hex')
  expect(Buffer.from(hmacSha256(key, message)).toString('hex')).toBe(expected)
})
