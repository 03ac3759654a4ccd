// Tests of `EngineLifetime`: an ended engine cannot use its clock and its store.

import { openSqliteStore, VirtualClock } from '@perdure/engine'
import { expect, onTestFinished, test } from 'vitest'
import { clockOf, EngineLifetime, guarded } from './lifetime.ts'
import { nextTurn } from './real-time.ts'

async function open() {
  const store = await openSqliteStore({ file: ':memory:' })
  onTestFinished(() => store.close())
  const lifetime = new EngineLifetime()
  return { store, lifetime, own: guarded(store, lifetime) }
}

test('a running engine can use the whole store, including namespaces and administration', async () => {
  const { own } = await open()
  await own.ping()
  await own.admin.addNamespaces(['default'], 1)
  expect(await own.admin.namespaces()).toMatchObject([{ name: 'default' }])
  expect(await own.in('default').runs({ limit: 1 })).toEqual([])
  await expect(own.in('default').runs({ limit: 1, after: {} as never })).rejects.toThrow()
})

test('an ended engine changes nothing, gets no results, and does not close the store', async () => {
  const { store, lifetime, own } = await open()
  const results: string[] = []
  void own.ping().then(() => results.push('called before the end'))
  lifetime.end(new Error('crashed'))
  void own.admin.addNamespaces(['ghost'], 1).then(() => results.push('called after the end'))
  await own.close()
  for (let i = 0; i < 5; i++) await nextTurn()
  expect(results).toEqual([])
  expect(await store.admin.namespaces()).toEqual([])
  await expect(lifetime.ended).rejects.toThrow('crashed')
})

test('no timer of an ended engine fires', () => {
  const clock = new VirtualClock()
  const [running, ended] = [new EngineLifetime(), new EngineLifetime()]
  const fired: string[] = []
  clockOf(running, clock).at(clock.now() + 1, () => fired.push('running'))
  clockOf(ended, clock).at(clock.now() + 1, () => fired.push('ended'))
  ended.end(new Error('crashed'))
  clock.leapTo(clock.now() + 1)
  expect(fired).toEqual(['running'])
})
