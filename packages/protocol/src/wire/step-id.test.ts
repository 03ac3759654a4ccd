// Step ids: the hash, and the suffix of a repeated name.

import { describe, expect, it } from 'vitest'
import { hashStepId, positionalStepId } from './step-id.ts'

describe('a hashed step id', () => {
  it.each([
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['é', '4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c'],
  ])('of "%s" is the lowercase hex SHA-256 of its UTF-8 bytes', (id, hash) => {
    expect(hashStepId(id)).toBe(hash)
  })
})

describe('a step name used again', () => {
  it('has no suffix the first time, then :1, :2 and so on', () => {
    expect([0, 1, 2, 10].map(use => positionalStepId('charge', use))).toEqual([
      'charge',
      'charge:1',
      'charge:2',
      'charge:10',
    ])
  })
})
