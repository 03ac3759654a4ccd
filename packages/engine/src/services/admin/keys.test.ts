import { describe, expect, test } from 'vitest'
import { KEY_KINDS, type StoredKey } from '../../domain/model/api-key.ts'
import { hashKey, KeyRing, newKey } from './keys.ts'

const fixed = { label: 'fixed', namespace: 'default', kind: 'read', key: 'fixed-key' } as const
const stored = (key: string, fields: Partial<StoredKey> = {}): StoredKey => ({
  id: key,
  label: key,
  namespace: 'acme',
  kind: 'secret',
  hash: hashKey(key),
  createdAt: 1,
  ...fields,
})

describe('a key ring', () => {
  test('finds fixed and stored keys, without their hashes', () => {
    const ring = new KeyRing({ fixed: [fixed], loopback: true })
    ring.replaceStored([stored('a')])
    expect(ring.find('fixed-key')).toEqual({
      id: 'ENGINE_API_KEYS[0]',
      label: 'fixed',
      namespace: 'default',
      kind: 'read',
    })
    expect(ring.find('a')).toEqual({ id: expect.any(String), label: 'a', namespace: 'acme', kind: 'secret' })
    expect(ring.find('b')).toBeUndefined()
    expect(ring.find(hashKey('a'))).toBeUndefined()
    expect(ring.size).toBe(2)
  })

  test('forgets revoked keys, and those that are no longer stored', () => {
    const ring = new KeyRing({ fixed: [fixed], loopback: true })
    ring.replaceStored([stored('a'), stored('b')])
    ring.replaceStored([stored('a', { revokedAt: 2 })])
    for (const key of ['a', 'b']) expect(ring.find(key), key).toBeUndefined()
    expect(ring.find('fixed-key')).toBeDefined()
    expect(ring.size).toBe(1)
  })

  test('a key that has expired opens nothing, nor do its sessions, and its refusal says when it expired', () => {
    const ring = new KeyRing({ fixed: [], loopback: true })
    const session = stored('s', { parentHash: hashKey('a'), expiresAt: 900 })
    const changes: number[] = []
    ring.onChange(() => changes.push(ring.size))
    ring.replaceStored([stored('a', { expiresAt: 500 }), stored('b', { expiresAt: 700 }), session], 100)
    expect([ring.find('a')?.expiresAt, ring.expiresAt('s')]).toEqual([500, 900])
    ring.expire(499)
    expect(changes).toEqual([2])
    ring.expire(500)
    expect(changes).toEqual([2, 1])
    expect([ring.find('a'), ring.findLasting('a'), ring.holder('a'), ring.find('s')]).toEqual(Array(4).fill(undefined))
    expect(ring.find('b')).toBeDefined()
    expect(ring.refusalOf('a').message).toBe('the API key expired at 1970-01-01T00:00:00.500Z')
    for (const key of ['s', 'unknown', undefined]) expect(ring.refusalOf(key).message).toBe('the API key is not valid')
    ring.replaceStored([stored('a', { expiresAt: 500 }), stored('b', { revokedAt: 1, expiresAt: 700 })], 700)
    expect(ring).toMatchObject({ open: false, size: 0 })
    expect(ring.refusalOf('b').message).toBe('the API key is not valid')
  })

  test('notifies its listeners of every change', () => {
    const ring = new KeyRing({ fixed: [fixed], loopback: true })
    const found: boolean[] = []
    const stop = ring.onChange(() => found.push(ring.find('a') !== undefined))
    ring.replaceStored([stored('a')])
    ring.replaceStored([stored('a', { revokedAt: 2 })])
    stop()
    ring.replaceStored([])
    expect(found).toEqual([true, false])
  })

  test('is open until the first key is made, and never again by a revocation', () => {
    const ring = new KeyRing({ fixed: [], loopback: true })
    expect(ring.open).toBe(true)
    ring.replaceStored([stored('a')])
    expect(ring.open).toBe(false)
    ring.replaceStored([stored('a', { revokedAt: 2 })])
    expect(ring).toMatchObject({ open: false, size: 0 })
  })

  test('is never open with a fixed key, nor beyond loopback', () => {
    expect(new KeyRing({ fixed: [fixed], loopback: true }).open).toBe(false)
    expect(new KeyRing({ fixed: [], loopback: false }).open).toBe(false)
  })
})

test.each(KEY_KINDS)('a new %s key names its kind, has 256 random bits, and is unlike every other', kind => {
  const keys = Array.from({ length: 100 }, () => newKey(kind))
  expect(new Set(keys).size).toBe(100)
  for (const key of keys) {
    const [, random] = /^pdk_[a-z]+_([A-Za-z0-9_-]{43})$/.exec(key) as unknown as [string, string]
    expect(key.startsWith(`pdk_${kind}_`)).toBe(true)
    expect(Buffer.from(random, 'base64url')).toHaveLength(32)
  }
})
