// Edits and deletions of endpoints and receivers by two engines on one store, each with its own catalog that nothing else
// refreshes.

import pino from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { seededRandom } from '../../adapters/clock/seeded-random.ts'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import { openSqliteStore } from '../../adapters/sql/sqlite/store.ts'
import { IdSource } from '../../domain/text/ids.ts'
import type { Store } from '../../ports/store.ts'
import { Catalog } from '../catalog/catalog.ts'
import { Audit } from '../commit/audit.ts'
import { Endpoints } from './endpoints.ts'
import { Receivers } from './receivers.ts'
import { Vault } from './vault.ts'
import type { Saved } from './versioned-resource.ts'

interface Item {
  id: string
  version: number
  name?: string
  app?: string
}

/** The calls that both kinds of resource have. */
interface Resource {
  list(): Item[]
  create(name: string): Promise<Item>
  rename(id: string, name: string): Promise<Item>
  moveTo(id: string, app: string): Promise<Item>
  delete(id: string): Promise<void>
}

const clock = new VirtualClock()
const random = seededRandom(1)
const ids = new IdSource(() => random.next())
const ACTOR = { namespace: 'default' }
type Deps = ConstructorParameters<typeof Endpoints>[0]

function resourceOf(service: Endpoints | Receivers, create: (name: string) => Promise<Saved<Item>>): Resource {
  const edit = async (id: string, fields: { name?: string; app?: string }) =>
    (await service.update(ACTOR, id, fields)).saved
  return {
    list: () => service.list(ACTOR.namespace),
    create: async name => (await create(name)).saved,
    rename: (id, name) => edit(id, { name }),
    moveTo: (id, app) => edit(id, { app }),
    delete: id => service.delete(ACTOR, id),
  }
}

function endpointsOf(deps: Deps): Resource {
  const endpoints = new Endpoints(deps)
  const fields = { url: 'https://example.com/', eventKinds: ['run.failed' as const] }
  return resourceOf(endpoints, name => endpoints.create(ACTOR, { name, ...fields }))
}

function receiversOf(deps: Deps): Resource {
  const receivers = new Receivers(deps)
  return resourceOf(receivers, name => receivers.create(ACTOR, { name, eventName: 'paid' }))
}

describe.each([
  ['endpoints', endpointsOf],
  ['receivers', receiversOf],
])('%s of two engines', (_, openOn) => {
  async function engineOn(store: Store) {
    const catalog = await Catalog.load(store, { deliveryAttemptsMax: 1, generationsMax: 100 }, false)
    const audit = new Audit({ store, clock, ids, log: pino({ enabled: false }) })
    return { catalog, ...openOn({ store, catalog, clock, ids, audit, vault: new Vault([]) }) }
  }

  /** Both engines know one resource, `before`. */
  async function setUp() {
    const store = await openSqliteStore({ file: ':memory:' })
    onTestFinished(() => store.close())
    const { id } = await (await engineOn(store)).create('before')
    return { id, store, one: await engineOn(store), two: await engineOn(store) }
  }

  test('an edit that lost a race is applied to what the winner left', async () => {
    const { id, one, two } = await setUp()
    await one.moveTo(id, 'shop')
    expect(await two.rename(id, 'after')).toMatchObject({ name: 'after', app: 'shop', version: 3 })
    expect(two.list()).toMatchObject([{ id, name: 'after', app: 'shop' }])
  })

  test('an edit of one that another engine deleted is refused as not found', async () => {
    const { id, one, two } = await setUp()
    await one.delete(id)
    await expect(two.rename(id, 'after')).rejects.toMatchObject({ code: 'not_found' })
    expect(two.list()).toEqual([])
  })

  test('a deletion takes along what another engine changed', async () => {
    const { id, store, one, two } = await setUp()
    await one.rename(id, 'after')
    await two.delete(id)
    expect(two.list()).toEqual([])
    expect(await store.catalog()).toMatchObject({ endpoints: [], receivers: [] })
    await expect(one.rename(id, 'later')).rejects.toMatchObject({ code: 'not_found' })
  })

  test('a deletion of one that another engine deleted is refused as not found', async () => {
    const { id, one, two } = await setUp()
    await one.delete(id)
    await expect(two.delete(id)).rejects.toMatchObject({ code: 'not_found' })
    expect(two.list()).toEqual([])
  })

  test('edits of both at once are all kept', async () => {
    const { id, store, one, two } = await setUp()
    await Promise.all([one.rename(id, 'after'), two.moveTo(id, 'shop'), one.moveTo(id, 'shop')])
    const [saved] = (await engineOn(store)).list()
    expect(saved).toMatchObject({ name: 'after', app: 'shop', version: 4 })
  })

  test('one that is created while a lost race reads the catalog again stays known', async () => {
    const { id, store, one, two } = await setUp()
    await one.rename(id, 'after')
    const { catalog } = store
    let created: Promise<Item> | undefined
    // The creation is durable and known after the read has begun, but before the read's answer is there.
    store.catalog = async () => {
      const configured = await catalog.call(store)
      created ??= two.create('meanwhile')
      await created
      return configured
    }
    await two.moveTo(id, 'shop')
    expect(two.list().map(({ name }) => name)).toEqual(['after', 'meanwhile'])
  })
})
