// API keys and namespaces, as people administer them.

import { describe, expect, it } from 'vitest'
import type { StoredKey } from '../../../../packages/engine/src/domain/model/api-key.ts'
import { eachStore, NOW, type OpenStore } from '../samples.ts'

export function aKey(fields: Partial<StoredKey> = {}): StoredKey {
  const id = fields.id ?? 'key_1'
  return {
    id,
    namespace: 'acme',
    label: 'ops',
    kind: 'secret',
    hash: `hash of ${id}`,
    createdAt: NOW,
    ...fields,
  }
}

export function adminContract(open: OpenStore): void {
  describe('admin', () => {
    const store = eachStore(open)
    const admin = () => store().admin

    it('keeps keys, oldest first, to the letter', async () => {
      expect(await admin().keys()).toEqual([])
      const keys = [aKey({ id: 'key_1' }), aKey({ id: 'key_2', kind: 'read', label: 'für "alle" \u0000 ✓' })]
      for (const key of keys.toReversed()) await admin().addKey(key)
      expect(await admin().keys()).toEqual(keys)
    })

    it('refuses a second key of the same id or hash', async () => {
      await admin().addKey(aKey())
      await expect(admin().addKey(aKey({ hash: 'another' }))).rejects.toThrow()
      await expect(admin().addKey(aKey({ id: 'key_2', hash: aKey().hash }))).rejects.toThrow()
      expect(await admin().keys()).toEqual([aKey()])
    })

    it('revokes one key, and keeps the time of its first revocation', async () => {
      await admin().addKey(aKey())
      await admin().addKey(aKey({ id: 'key_2' }))
      const revoked = { ...aKey(), revokedAt: NOW + 1 }
      expect(await admin().revokeKey('key_1', NOW + 1)).toEqual(revoked)
      expect(await admin().revokeKey('key_1', NOW + 2)).toEqual(revoked)
      expect(await admin().keys()).toEqual([revoked, aKey({ id: 'key_2' })])
      expect(await admin().revokeKey('key_3', NOW)).toBeUndefined()
    })

    it('turns a code into a session once, and only in time', async () => {
      const code = aKey({ parentHash: 'parent', expiresAt: NOW + 100, isCode: true, hash: 'code' })
      await admin().addKey(code)
      const session = (n: number) => ({ hash: `token ${n}`, expiresAt: NOW + 5000 })
      expect(await admin().redeemCode('another', session(1), NOW)).toBeUndefined()
      expect(await admin().redeemCode('code', session(2), NOW + 100)).toBeUndefined()
      const tries = [3, 4, 5].map(n => admin().redeemCode('code', session(n), NOW + 99))
      const redeemed = (await Promise.all(tries)).filter(key => key !== undefined)
      expect(redeemed).toHaveLength(1)
      const { isCode, ...rest } = code
      expect(redeemed[0]).toEqual({ ...rest, hash: redeemed[0]?.hash, expiresAt: NOW + 5000 })
      expect(await admin().keys()).toEqual(redeemed)
    })

    it('drops what has expired, and notes uses without a new revision', async () => {
      const expiring = aKey({ id: 'key_3', hash: 'another', expiresAt: NOW + 1 })
      const keys = [aKey(), aKey({ id: 'key_2', hash: 'session', parentHash: 'p', expiresAt: NOW + 1 }), expiring]
      for (const key of keys) await admin().addKey(key)
      await admin().dropExpired(NOW)
      expect(await admin().keys()).toEqual(keys)
      await admin().dropExpired(NOW + 1)
      const revision = await admin().revision()
      await admin().keysUsed([{ id: 'key_1', at: NOW }])
      // A key that people created stays listed.
      expect(await admin().keys()).toEqual([aKey({ lastUsedAt: NOW }), expiring])
      expect(await admin().revision()).toBe(revision)
    })

    it('has the namespaces of its keys and those that were added, each since it was new', async () => {
      await admin().addKey(aKey({ namespace: 'mine' }))
      await admin().addNamespaces(['mine', 'theirs'], NOW + 1)
      await admin().addKey(aKey({ id: 'key_2', namespace: 'theirs', createdAt: NOW + 2 }))
      expect(await admin().namespaces()).toEqual([
        { name: 'mine', createdAt: NOW },
        { name: 'theirs', createdAt: NOW + 1 },
      ])
    })

    it('suspends and resumes one namespace, and keeps the time of its first suspension', async () => {
      await admin().addNamespaces(['mine', 'theirs'], NOW)
      const suspended = { name: 'mine', createdAt: NOW, suspendedAt: NOW + 1 }
      expect(await admin().suspend('mine', NOW + 1)).toEqual(suspended)
      expect(await admin().suspend('mine', NOW + 2)).toEqual(suspended)
      await admin().addNamespaces(['mine'], NOW + 3)
      await admin().addKey(aKey({ namespace: 'mine' }))
      expect(await admin().namespaces()).toEqual([suspended, { name: 'theirs', createdAt: NOW }])
      expect(await admin().resume('mine')).toEqual({ name: 'mine', createdAt: NOW })
      expect(await admin().resume('mine')).toEqual({ name: 'mine', createdAt: NOW })
      for (const answer of [await admin().suspend('nowhere', NOW), await admin().resume('nowhere')])
        expect(answer).toBeUndefined()
    })

    it('raises the revision with every write', async () => {
      const writes = [
        () => admin().addKey(aKey()),
        () => admin().revokeKey('key_1', NOW),
        () => admin().addNamespaces(['mine'], NOW),
        () => admin().suspend('mine', NOW),
        () => admin().resume('mine'),
      ]
      let last = await admin().revision()
      for (const write of writes) {
        await write()
        const next = await admin().revision()
        expect(next).toBeGreaterThan(last)
        last = next
      }
      await admin().keys()
      expect(await admin().revision()).toBe(last)
    })
  })
}
