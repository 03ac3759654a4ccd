import pino from 'pino'
import { expect, test } from 'vitest'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import { openSqliteStore } from '../../adapters/sql/sqlite/store.ts'
import type { Admin } from '../../ports/admin.ts'
import { Catalog } from '../catalog/catalog.ts'
import { Namespaces } from '../catalog/namespaces.ts'
import { AdminWatch } from './admin-watch.ts'
import { hashKey, KeyRing } from './keys.ts'

/** A watch on a real store, whose reads of the revision are counted and may be made to fail. */
async function watching() {
  const store = await openSqliteStore({ file: ':memory:' })
  const reading = { reads: 0, broken: false }
  const { admin } = store
  const watched: Admin = Object.assign(Object.create(admin), {
    keys: () => admin.keys(),
    namespaces: () => admin.namespaces(),
    async revision() {
      reading.reads++
      if (reading.broken) throw new Error('the connection is cut')
      return admin.revision()
    },
  })
  const clock = new VirtualClock()
  const logged: string[] = []
  const log = pino({}, { write: text => void logged.push(text) })
  const keys = new KeyRing({ fixed: [], loopback: true })
  const namespaces = new Namespaces(new Catalog({ deliveryAttemptsMax: 1, generationsMax: 100 }))
  const watch = new AdminWatch({ admin: watched, keys, namespaces, clock, log })
  return { store, admin, reading, clock, logged, keys, namespaces, watch }
}

const key = { id: 'key_1', namespace: 'acme', label: 'ops', kind: 'read', createdAt: 1 } as const

test('follows keys and suspensions, with one read a second', async () => {
  const { store, admin, reading, clock, keys, namespaces, watch } = await watching()
  await watch.refresh()
  watch.start()
  expect(keys.open).toBe(true)
  await admin.addKey({ ...key, hash: hashKey('k') })
  await admin.suspend('acme', 2)
  await clock.advance(2000)
  expect(keys.find('k')).toMatchObject({ namespace: 'acme' })
  expect(namespaces.isSuspended('acme')).toBe(true)
  expect(() => namespaces.assertActive('acme')).toThrow(expect.objectContaining({ code: 'namespace_suspended' }))
  expect(() => namespaces.assertActive('default')).not.toThrow()
  await admin.revokeKey('key_1', 3)
  await admin.resume('acme')
  await clock.advance(2000)
  expect(keys.find('k')).toBeUndefined()
  expect(namespaces.isSuspended('acme')).toBe(false)
  const before = reading.reads
  await clock.advance(60_000)
  expect(reading.reads - before).toBeLessThanOrEqual(60)
  watch.stop()
  await store.close()
})

test('keeps the last known state while reads fail, logs that once, and continues', async () => {
  const { store, admin, reading, clock, logged, keys, watch } = await watching()
  await admin.addKey({ ...key, hash: hashKey('k') })
  await watch.refresh()
  watch.start()
  reading.broken = true
  await admin.revokeKey('key_1', 3)
  await clock.advance(10_000)
  expect(keys.find('k')).toBeDefined()
  expect(logged).toHaveLength(1)
  expect(logged[0]).toContain('the connection is cut')
  reading.broken = false
  await clock.advance(2000)
  expect(keys.find('k')).toBeUndefined()
  watch.stop()
  await store.close()
})
