// Decisions that rest on the catalog, while other engines change it.

import { expect, onTestFinished, test } from 'vitest'
import { openSqliteStore } from '../../adapters/sql/sqlite/store.ts'
import type { Change, Unit } from '../../domain/model/change.ts'
import { catalogGuards } from '../../domain/run/assumptions.ts'
import { event, runner } from '../../domain/testkit/nouns.testkit.ts'
import { Catalog } from '../catalog/catalog.ts'
import { decideAndCommit } from './decide-and-commit.ts'

test('a series of registrations holds up no decision, and the decision knows those before it', async () => {
  const store = await openSqliteStore({ file: ':memory:' })
  onTestFinished(() => store.close())
  const catalog = await Catalog.load(store, { deliveryAttemptsMax: 1, generationsMax: 100 }, true)
  let registered = 0
  const register = async () => {
    const change: Change = { type: 'runner.registered', runner: runner(`r${++registered}`) }
    await store.commit({ guards: [], changes: [change] })
  }
  catalog.refreshWith(async () => {
    const revision = await store.catalogRevision()
    catalog.replace(await store.catalog(), revision)
    await register()
    return true
  })
  const assumptions: string[][] = []
  await register()
  const decided = await decideAndCommit<Unit>({
    store,
    catalog,
    decide: assumed => {
      const view = catalog.view('default')
      assumptions.push(view.runners('shop').map(({ runnerId }) => runnerId))
      const changes: Change[] = [{ type: 'event.recorded', event: event('evt_1', 'a') }]
      return { guards: catalogGuards(view, assumed), changes }
    },
    unit: unit => unit,
    onStale: () => false,
  })
  expect(decided).toBeDefined()
  expect(assumptions).toEqual([[], ['r1']])
})
