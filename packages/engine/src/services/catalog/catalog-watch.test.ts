// An engine soon knows, at little cost, what other engines register; a read never undoes this engine's own registrations.

import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { LoopbackNetwork } from '../../adapters/bus/loopback.testkit.ts'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import { openSqliteStore } from '../../adapters/sql/sqlite/store.ts'
import type { Change } from '../../domain/model/change.ts'
import { runner, workflow } from '../../domain/testkit/nouns.testkit.ts'
import { Catalog } from './catalog.ts'
import { CatalogWatch, type CatalogWatchDeps } from './catalog-watch.ts'

/** Two engines on one store: the first registers, the second watches. */
async function watching() {
  const store = await openSqliteStore({ file: ':memory:' })
  const clock = new VirtualClock()
  const reading = { revisions: 0, reads: 0, broken: false, beforeAnswer: async () => {} }
  const watched: CatalogWatchDeps['store'] = {
    async catalogRevision() {
      reading.revisions++
      if (reading.broken) throw new Error('the connection is cut')
      return store.catalogRevision()
    },
    async catalog() {
      reading.reads++
      const configured = await store.catalog()
      await reading.beforeAnswer()
      return configured
    },
  }
  const logged: string[] = []
  const log = pino({}, { write: text => void logged.push(text) })
  const arrived: string[] = []
  const limited: string[] = []
  const [elsewhere, catalog] = [
    new Catalog({ deliveryAttemptsMax: 1, generationsMax: 100 }),
    new Catalog({ deliveryAttemptsMax: 1, generationsMax: 100 }),
  ]
  let slowReads = 0
  const watch = new CatalogWatch({
    store: watched,
    catalog,
    clock,
    log,
    onAppReachable: (_, app) => void arrived.push(app),
    onLimited: ({ name }) => void limited.push(name),
    onRead: async () => void slowReads++,
  })
  onTestFinished(async () => {
    watch.stop()
    await store.close()
  })
  /** Commits changes at an engine, which applies them. */
  const commit = async (by: Catalog, ...changes: Change[]) => {
    await store.commit({ guards: [], changes })
    by.apply(changes)
  }
  const known = () =>
    catalog
      .view('default')
      .runners('shop')
      .map(({ runnerId }) => runnerId)
  return {
    store,
    clock,
    reading,
    logged,
    arrived,
    limited,
    elsewhere,
    catalog,
    watch,
    commit,
    known,
    slow: () => slowReads,
  }
}

const registered = (runnerId: string, fields = {}): Change => ({
  type: 'runner.registered',
  runner: runner(runnerId, fields),
})

test('what another engine registers is known within a second, and what it removes is gone', async () => {
  const { clock, arrived, elsewhere, catalog, watch, commit, known } = await watching()
  watch.start()
  await commit(elsewhere, registered('r1'), { type: 'workflow.registered', workflow: workflow('order') })
  await clock.advance(1000)
  expect(known()).toEqual(['r1'])
  expect(catalog.view('default').workflow('shop', 'order')).toMatchObject({ name: 'order' })
  expect(arrived).toEqual(['shop'])
  await commit(elsewhere, { type: 'runner.forgotten', namespace: 'default', app: 'shop', runnerId: 'r1' })
  await clock.advance(1000)
  expect(known()).toEqual([])
  expect(arrived).toEqual(['shop'])
})

test('limits that an operator sets at another engine are reported once, and so is their removal', async () => {
  const { clock, limited, elsewhere, watch, commit } = await watching()
  watch.start()
  await commit(elsewhere, registered('r1'), { type: 'workflow.registered', workflow: workflow('order') })
  await clock.advance(1000)
  expect(limited).toEqual([])
  const named = { type: 'workflow.limitsSet', namespace: 'default', app: 'shop', name: 'order' } as const
  await commit(elsewhere, { ...named, limits: { throttle: 5 } })
  await clock.advance(30_000)
  expect(limited).toEqual(['order'])
  await commit(elsewhere, named)
  await clock.advance(1000)
  expect(limited).toEqual(['order', 'order'])
})

test('after a notification it is known at once', async () => {
  const { clock, elsewhere, watch, commit, known } = await watching()
  const network = new LoopbackNetwork(clock)
  const [one, two] = [await network.open('one'), await network.open('two')]
  elsewhere.onChanged(() => one.publish('catalog', ''))
  two.on('catalog', () => watch.refreshSoon())
  await commit(elsewhere, registered('r1'))
  await clock.advance(0)
  expect(known()).toEqual(['r1'])
})

test('while nothing is new, one number is read each second, and the rest every 15 seconds', async () => {
  const { clock, reading, watch, slow } = await watching()
  watch.start()
  await clock.advance(1000)
  const before = { ...reading }
  await clock.advance(60_000)
  expect(reading.revisions - before.revisions).toBe(60)
  expect(reading.reads - before.reads).toBe(4)
  expect(slow()).toBe(5)
})

test('a heartbeat raises no revision: the regular reads find it, and it is no arrival', async () => {
  const { clock, arrived, elsewhere, catalog, watch, commit, known } = await watching()
  await commit(elsewhere, registered('r1'))
  watch.start()
  await clock.advance(1000)
  arrived.length = 0
  const seen = () => catalog.view('default').runners('shop')[0]?.lastSeenAt
  const repeat: Change = {
    type: 'runner.registered',
    runner: runner('r1', { lastSeenAt: 77 }),
    isRepeat: true,
  }
  await commit(elsewhere, repeat)
  await clock.advance(5000)
  expect(seen()).not.toBe(77)
  await clock.advance(10_000)
  expect([seen(), known(), arrived]).toEqual([77, ['r1'], []])
  await commit(elsewhere, registered('r1', { url: 'http://elsewhere:1' }))
  await clock.advance(1000)
  expect(arrived).toEqual(['shop'])
})

test('what this engine registers while the store is read is not lost to the older read', async () => {
  const { reading, elsewhere, catalog, watch, commit, known } = await watching()
  await commit(elsewhere, registered('r1'))
  reading.beforeAnswer = async () => {
    reading.beforeAnswer = async () => {}
    await commit(catalog, registered('here'))
  }
  await watch.refresh()
  expect(known().sort()).toEqual(['here', 'r1'])
  expect(reading.reads).toBe(2)
})

test('changes of this engine without end put the read off to the next refresh', async () => {
  const { reading, elsewhere, catalog, watch, commit, known } = await watching()
  await commit(elsewhere, registered('r1'))
  let no = 0
  reading.beforeAnswer = () => commit(catalog, registered(`here${++no}`))
  await watch.refresh()
  expect(reading.reads).toBe(5)
  expect(known()).not.toContain('r1')
  reading.beforeAnswer = async () => {}
  await watch.refresh()
  expect(known().sort()).toEqual(['here1', 'here2', 'here3', 'here4', 'here5', 'r1'])
})

test('a refresh covers all that was committed before the call, and one serves many callers', async () => {
  const { reading, elsewhere, watch, commit, known } = await watching()
  reading.beforeAnswer = () => commit(elsewhere, registered('late'))
  const first = watch.refresh()
  await commit(elsewhere, registered('r1'))
  const later = Promise.all(Array.from({ length: 50 }, () => watch.refresh()))
  await first
  reading.beforeAnswer = async () => {}
  await later
  expect(known().sort()).toEqual(['late', 'r1'])
  expect(reading.revisions).toBe(2)
})

test('while the store fails, the last known state counts, one line is logged, and then it continues', async () => {
  const { clock, reading, logged, elsewhere, watch, commit, known } = await watching()
  await commit(elsewhere, registered('r1'))
  watch.start()
  await clock.advance(1000)
  reading.broken = true
  await commit(elsewhere, registered('r2'))
  watch.refreshSoon()
  await clock.advance(30_000)
  expect(known()).toEqual(['r1'])
  expect(logged).toHaveLength(1)
  expect(logged[0]).toContain('the connection is cut')
  await expect(watch.refresh()).rejects.toThrow('the connection is cut')
  reading.broken = false
  await clock.advance(1000)
  expect(known().sort()).toEqual(['r1', 'r2'])
})

test('refreshes no more once it is stopped', async () => {
  const { clock, reading, watch } = await watching()
  watch.start()
  let answer = () => {}
  reading.beforeAnswer = () =>
    new Promise(resolve => {
      answer = resolve
    })
  await clock.advance(1000)
  watch.stop()
  answer()
  await clock.advance(0)
  const { revisions } = reading
  watch.refreshSoon()
  await clock.advance(60_000)
  expect(reading.revisions).toBe(revisions)
  expect(clock.nextTimer()).toBeUndefined()
})
