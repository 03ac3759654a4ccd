// The list of runs in every order and under every filter, and the counts of runs.

import { RUN_STATUSES } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { isTerminal, type Run, type RunFilter } from '../../../../packages/engine/src/domain/model/run.ts'
import { errorFingerprint } from '../../../../packages/engine/src/domain/view/errors/error-fingerprint.ts'
import { positionOf } from '../../../../packages/engine/src/domain/view/run-order.ts'
import type { Store } from '../../../../packages/engine/src/ports/store.ts'
import type { RunQuery } from '../../../../packages/engine/src/ports/store-reads.ts'
import { seeded } from '../../../kit/seeded.ts'
import { aRun, created, eachStore, moved, NOW, NS, type OpenStore, write } from '../samples.ts'
import { DIRS, type FilterName, matches, SORTS, sorted } from './run-model.ts'

/** The ids of all pages, in order. */
async function walked(store: Store, query: Omit<RunQuery, 'limit'>, limit: number): Promise<string[]> {
  const ids: string[] = []
  for (let { after } = query; ; ) {
    const page = await store.in(NS).runs({ ...query, limit, after })
    ids.push(...page.map(({ id }) => id))
    const last = page.at(-1)
    if (page.length < limit || !last) return ids
    after = positionOf(last, query.sort ?? 'started')
  }
}

const ids = (runs: readonly Run[]) => runs.map(({ id }) => id)

/** Runs of every kind, many of them with equal sort keys. */
function variedRuns(count: number): Run[] {
  const { between, next } = seeded(7)
  const pick = <T>(values: readonly T[]): T => values[between(0, values.length - 1)] as T
  return Array.from({ length: count }, (_, i) => {
    const status = pick(RUN_STATUSES)
    const createdAt = NOW + Math.floor(i / 3)
    const startedAt = next() < 0.2 ? undefined : createdAt + 1
    const ended = {
      startedAt,
      finishedAt: createdAt + 1 + between(0, 3),
      finishedSeq: 9,
      availableAt: undefined,
    }
    return aRun({
      createdAt,
      app: pick(['shop', 'mail', 'Käse']),
      workflow: pick(['order', 'refund', 'order_late']),
      status,
      ...(isTerminal(status) ? ended : {}),
      ...(status === 'failed' ? { error: { message: pick(['no card', 'no stock']), code: 'step_failed' } } : {}),
      ...(status === 'waiting' ? { waitingFor: { kind: pick(['sleep', 'event']) } } : {}),
      ...(status === 'queued' && next() < 0.5 ? { waitingFor: { kind: 'concurrency' as const } } : {}),
      ...(next() < 0.2 ? { parentRunId: pick(['run_c', 'run_d']) } : {}),
      ...(next() < 0.2 ? { runner: pick(['r-1', 'r-2']) } : {}),
      ...(next() < 0.2 ? { startKey: pick(['a', 'b']) } : {}),
      ...(next() < 0.2 ? { triggerKind: 'cron' as const, cron: '* * * * *' } : {}),
      ...(next() < 0.2 ? { eventId: pick(['evt_1', 'evt_2']) } : {}),
      ...(next() < 0.6
        ? { attributes: { customer: pick(['c-1', 'c-2']), vip: next() < 0.3, items: between(1, 3) } }
        : {}),
      ...(next() < 0.2 ? { failure: { message: 'no card', code: 'step_failed' } } : {}),
      ...(next() < 0.2 ? { replayOf: pick(['run_a', 'run_b']) } : {}),
    })
  })
}

const RUNS = variedRuns(120)
const NO_CARD = RUNS.filter(({ error }) => error?.message === 'no card')
  .map(run => errorFingerprint(run) as string)
  .at(0) as string

/** Values for every filter. The type requires an entry for each filter. */
const VALUES: { readonly [Name in FilterName]: readonly Required<RunFilter>[Name][] } = {
  app: ['shop', 'none'],
  workflow: ['order'],
  workflows: [
    ['order', 'refund'],
    ['none', 'refund'],
  ],
  status: [...RUN_STATUSES.map(status => [status]), ['failed', 'cancelled'], ['running', 'succeeded', 'queued']],
  parentRunId: ['run_c'],
  root: [true],
  waitingFor: ['event', 'concurrency', 'child'],
  error: [NO_CARD],
  runner: ['r-1'],
  key: ['a', 'none'],
  ids: [['run_a', ...ids(RUNS.slice(20, 50))], ['run_a']],
  attribute: [['customer:c-1'], ['vip:true', 'items:2'], ['customer:c-1', 'customer:c-2'], ['none:1']],
  runType: ['cron', 'event'],
  kind: ['onFailure', 'run'],
  eventId: ['evt_1'],
  replayOf: ['run_a'],
  bulkId: ['blk_1'],
  isForked: [true],
  endedSince: [NOW + 20],
  endedUntil: [NOW + 20],
  since: [NOW + 20],
  until: [NOW + 20, NOW],
  q: ['ORDER', 'order_', 'käs'],
}

const FILTERS: RunFilter[] = [
  {},
  ...Object.entries(VALUES).flatMap(([name, values]) => values.map(value => ({ [name]: value }))),
  { app: 'shop', status: ['running'] },
  { app: 'shop', since: NOW + 10, runType: 'event' },
  { status: ['running'], since: NOW + 10, q: 'mail' },
  { eventId: 'evt_2', status: ['running'], q: 'o' },
  { waitingFor: 'event', app: 'mail', until: NOW + 30 },
  { waitingFor: 'sleep', status: ['waiting', 'paused'] },
  { error: NO_CARD, endedSince: NOW + 5, endedUntil: NOW + 60 },
  { error: NO_CARD, status: ['failed', 'succeeded'], since: NOW + 5, until: NOW + 35 },
  { workflow: 'order', status: ['succeeded'], runner: 'r-2' },
  { status: ['succeeded', 'failed'], app: 'shop' },
  { kind: 'onFailure', app: 'shop', status: ['failed', 'queued'], since: NOW + 5 },
  { kind: 'run', workflow: 'order', status: ['failed'], q: 'shop' },
  { replayOf: 'run_b', app: 'mail', since: NOW + 5 },
  { app: 'mail', workflow: 'refund', status: ['failed'] },
  { root: true, app: 'mail', status: ['running', 'failed'], since: NOW + 5 },
  { root: true, parentRunId: 'run_c' },
  { workflows: [] },
  { workflows: [], q: 'order' },
  { app: 'mail', workflows: ['order', 'refund'], status: ['failed'], since: NOW + 5 },
  { attribute: ['customer:c-2', 'items:1'], status: ['running', 'failed'], since: NOW + 5, q: 'o' },
  { attribute: ['vip:false'], replayOf: 'run_a' },
  { attribute: ['items:3'], app: 'shop', until: NOW + 30, q: 'order', deep: true },
]

/** Filters for which no search finds a page in its first read. */
const MANY_READS: RunFilter[] = [
  { app: 'Käse', workflow: 'order_late', status: ['cancelled'] },
  { attribute: ['customer:c-1', 'items:3'], status: ['failed', 'queued'] },
  { attribute: ['vip:true'], workflow: 'refund', runType: 'cron' },
  { parentRunId: 'run_c', app: 'shop' },
  { error: NO_CARD, runType: 'cron' },
  { waitingFor: 'event', workflow: 'order' },
  { waitingFor: 'event', error: NO_CARD },
  { status: ['running', 'succeeded'], until: NOW + 30 },
]

export function runListsContract(open: OpenStore): void {
  describe('lists of runs', () => {
    const store = eachStore(open)

    it('tells the names of workflows with a prefix that runs have, in order', async () => {
      const names = ['sync-b', 'sync-a', 'sync-a', 'synd', 'sync', 'other', 'sync-\u{1f600}']
      await write(
        store(),
        ...names.map(workflow => created(aRun({ workflow }))),
        created(aRun({ workflow: 'sync-c', namespace: 'b' })),
      )
      const found = (prefix: string, limit = 9) => store().in(NS).workflowNames({ prefix, limit })
      expect(await found('sync-')).toEqual(['sync-a', 'sync-b', 'sync-\u{1f600}'])
      expect(await found('sync-', 2)).toEqual(['sync-a', 'sync-b'])
      expect(await found('x')).toEqual([])
    })

    it('are in the order of the query, under every filter, for any page size; so many have each status', async () => {
      const runs = RUNS
      await write(store(), ...runs.map(run => created(run)))
      await write(store(), created(aRun({ namespace: 'other' })))
      for (const filter of FILTERS) {
        const counts = await store().in(NS).statusCounts(filter)
        for (const status of RUN_STATUSES) {
          const expected = runs.filter(run => run.status === status && matches(run, filter))
          expect(counts[status], `${JSON.stringify(filter)} ${status}`).toBe(expected.length)
        }
      }
      for (const sort of SORTS) {
        for (const dir of DIRS) {
          for (const filter of FILTERS) {
            const expected = ids(
              sorted(
                runs.filter(run => matches(run, filter)),
                sort,
                dir,
              ),
            )
            for (const limit of [30, 200]) {
              const found = await walked(store(), { ...filter, sort, dir }, limit)
              expect(found, `${sort} ${dir} ${JSON.stringify(filter)} ${limit}`).toEqual(expected)
            }
          }
        }
      }
    })

    it('are the same where a page takes many reads, along the order, by value or all at once', async () => {
      const runs = variedRuns(2500)
      await write(store(), ...runs.map(run => created(run)))
      for (const filter of MANY_READS) {
        for (const sort of SORTS) {
          for (const dir of DIRS) {
            const expected = ids(
              sorted(
                runs.filter(run => matches(run, filter)),
                sort,
                dir,
              ),
            )
            expect(await walked(store(), { ...filter, sort, dir }, 90), JSON.stringify({ filter, sort, dir })).toEqual(
              expected,
            )
          }
        }
      }
    })

    it('find the few that match among many, in every order', async () => {
      const runs = Array.from({ length: 2600 }, (_, i) =>
        aRun({ createdAt: NOW + i, app: i % 200 === 199 ? 'rare' : 'shop', workflow: `w-${i % 7}` }),
      )
      await write(store(), ...runs.map(run => created(run)))
      const rare = runs.filter(({ app }) => app === 'rare')
      for (const sort of SORTS) {
        const expected = ids(sorted(rare, sort, 'desc'))
        expect(await walked(store(), { q: 'RARE', sort }, 2), sort).toEqual(expected)
        expect(await walked(store(), { app: 'rare', q: 'w-', deep: true, sort }, 2), sort).toEqual(expected)
      }
      for (const filter of [{ q: 'RARE' }, { app: 'rare', q: 'w-', deep: true }]) {
        const counts = Object.values(await store().in(NS).statusCounts(filter))
        expect(counts.reduce((sum, count) => sum + count)).toBe(rare.length)
      }
    })

    it('find the few that match two filters of many runs each, in every order', async () => {
      // Each filter has its own runs for long stretches, and the filters share few runs of the same time.
      const runs = Array.from({ length: 4800 }, (_, i) =>
        aRun({
          createdAt: NOW + i,
          ...(i % 2 === 0 ? { attributes: { region: 'north', ...(i % 480 === 0 ? { vip: true } : {}) } } : {}),
          ...((i > 3600 && i % 2 === 1) || i % 600 === 0 ? { status: 'paused' } : {}),
          workflow: i < 1200 || i % 400 === 0 ? 'refund' : 'order',
        }),
      )
      await write(store(), ...runs.map(run => created(run)))
      const filters: RunFilter[] = [
        { attribute: ['region:north'], status: ['paused'] },
        { attribute: ['region:north'], status: ['paused'], workflow: 'refund', since: NOW + 300 },
        { attribute: ['vip:true'], status: ['paused', 'queued'] },
        { status: ['paused'], workflow: 'order', runType: 'event' },
        { attribute: ['region:north'], status: ['failed'] },
      ]
      for (const filter of filters) {
        const matching = runs.filter(run => matches(run, filter))
        for (const [sort, dir] of [
          ['started', 'desc'],
          ['started', 'asc'],
          ['duration', 'desc'],
        ] as const) {
          const found = await walked(store(), { ...filter, sort, dir }, 40)
          expect(found, `${sort} ${dir} ${JSON.stringify(filter)}`).toEqual(ids(sorted(matching, sort, dir)))
        }
      }
    })

    it('stop when they are given up', async () => {
      await write(store(), created(aRun()))
      const giveUp = new AbortController()
      const givenUp = store().in(NS).runs({ q: 'nothing', limit: 1 }, giveUp.signal)
      giveUp.abort(new Error('enough'))
      await expect(givenUp).rejects.toThrow('enough')
    })

    it('keep no other read waiting, however many search deep in long runs', async () => {
      const long = JSON.stringify('x'.repeat(200_000))
      // More than one slice, so the first search ends only after every search has read a slice of megabytes.
      const runs = Array.from({ length: 12 }, (_, i) => aRun({ createdAt: NOW + i, input: long }))
      const other = aRun({ namespace: 'other' })
      await write(store(), ...runs.map(run => created(run)), created(other))
      const done: string[] = []
      const search = async () => {
        await store().in(NS).runs({ q: 'nothing', deep: true, limit: 1 })
        done.push('search')
      }
      const searches = Array.from({ length: 20 }, search)
      await store().in('other').run(other.id)
      done.push('read')
      await Promise.all(searches)
      expect(done.indexOf('read')).toBe(0)
    })

    it('search deep in input, result and error, however they are stored', async () => {
      const long = 'x'.repeat(5000)
      const ended = { finishedAt: NOW, finishedSeq: 9, availableAt: undefined } as const
      const short = aRun({ input: '{"customer":"Zo\\u00eb"}' })
      const beside = aRun({ input: JSON.stringify({ long, customer: 'Zoë' }) })
      const result = aRun({ ...ended, status: 'succeeded', result: '{"greeting":"hi ZOË"}' })
      const error = aRun({
        ...ended,
        status: 'failed',
        error: { message: 'no "Zoë" here', code: 'step_failed' },
      })
      const workflow = aRun({ workflow: 'zoë-flow' })
      const unlike = aRun({ input: '{"customer":"Zo"}' })
      await write(store(), ...[short, beside, result, error, workflow, unlike].map(run => created(run)))
      const search = (q: string, deep: boolean) => walked(store(), { q, deep, dir: 'asc' }, 10)
      expect(await search('zoë', false)).toEqual([workflow.id])
      expect(await search('zoë', true)).toEqual(ids([short, beside, result, error, workflow]))
      expect(await search('no "zoë"', true)).toEqual([error.id])
      expect(await search('STEP_FAILED', true)).toEqual([error.id])
      expect(await search('%', true)).toEqual([])
    })

    it('search texts of many escapes in a time that rises with their length alone', async () => {
      const run = aRun({ input: JSON.stringify(`${'a\n'.repeat(50_000)}Zoë`) })
      await write(store(), created(run))
      expect(await walked(store(), { q: 'a\nzoë', deep: true }, 10)).toEqual([run.id])
    })

    it('move a run when its status or duration does', async () => {
      const [first, second] = [aRun(), aRun({ createdAt: NOW + 1 })]
      await write(store(), created(first), created(second))
      const byDuration = () => walked(store(), { sort: 'duration' }, 10)
      expect(await byDuration()).toEqual([second.id, first.id])
      const end = { startedAt: NOW, finishedAt: NOW + 8, finishedSeq: 9, availableAt: undefined }
      await write(store(), moved(first, { status: 'failed', ...end }))
      expect(await byDuration()).toEqual([first.id, second.id])
      expect(await walked(store(), { sort: 'status', dir: 'asc' }, 10)).toEqual([first.id, second.id])
      expect(await walked(store(), { status: ['failed'] }, 10)).toEqual([first.id])
      expect(await walked(store(), { status: ['queued'] }, 10)).toEqual([second.id])
    })
  })

  describe('stats of runs', () => {
    const store = eachStore(open)

    it('count by status, of the namespace, an app and a time', async () => {
      const runs = variedRuns(200)
      await write(store(), ...runs.map(run => created(run)))
      await write(store(), created(aRun({ namespace: 'other' })))
      for (const filter of [
        {},
        { app: 'shop' },
        { app: 'none' },
        { since: NOW + 30 },
        { app: 'mail', since: NOW + 9 },
      ]) {
        const counted = RUN_STATUSES.map(status => {
          const count = runs.filter(run => matches(run, filter) && run.status === status).length
          return [status, count]
        })
        expect(await store().in(NS).stats(filter), JSON.stringify(filter)).toEqual(Object.fromEntries(counted))
      }
    })
  })
}
