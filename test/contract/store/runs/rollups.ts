// Numbers of ended runs. Each run counts once, whenever its end is committed, whichever engine counts it, even after removal.

import { TERMINAL_STATUSES } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import type { Run } from '../../../../packages/engine/src/domain/model/run.ts'
import { durationClass } from '../../../../packages/engine/src/domain/view/durations.ts'
import { type SeriesStep, SPAN_MS, spanStart } from '../../../../packages/engine/src/domain/view/rollup-span.ts'
import { emptyTally, type RunTally, tallyOf } from '../../../../packages/engine/src/domain/view/run-tally.ts'
import type { Store } from '../../../../packages/engine/src/ports/store.ts'
import { seeded } from '../../../kit/seeded.ts'
import { aLeasedRun, aRun, created, eachStore, moved, NOW, NS, type OpenStore, write } from '../samples.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const FROM = spanStart('1d', NOW - 2 * DAY)
const UNTIL = FROM + 4 * DAY

/** An ended run, with the end of its live form. */
function anEnd(fields: Partial<Run> & Pick<Run, 'createdAt'>): { live: Run; end: Partial<Run>; run: Run } {
  const live = aLeasedRun({ startedAt: fields.createdAt, ...fields, status: 'running', finishedAt: undefined })
  const end: Partial<Run> = {
    status: fields.status ?? 'succeeded',
    finishedAt: fields.finishedAt ?? fields.createdAt,
    finishedSeq: 9,
    leaseOwner: undefined,
    availableAt: undefined,
  }
  return { live, end, run: { ...live, ...end } }
}

/** The spans that result when the runs are counted one by one. */
function expected(runs: readonly Run[], step: SeriesStep): Map<number, RunTally> {
  const spans = new Map<number, RunTally>()
  for (const run of runs) {
    const tallyAt = (at: number) => tallyOf(spans, spanStart(step, at))
    if (run.failure !== undefined) {
      // A span has a tally, even if it is empty because a series counts nothing of it.
      if (run.finishedAt !== undefined) {
        tallyAt(run.createdAt)
        tallyAt(run.finishedAt).onFailure[run.status as (typeof TERMINAL_STATUSES)[number]]++
      }
      continue
    }
    tallyAt(run.createdAt).started++
    if (run.finishedAt === undefined) continue
    const tally = tallyAt(run.finishedAt)
    tally[run.status as (typeof TERMINAL_STATUSES)[number]]++
    if (run.startedAt === undefined) continue
    count(tally.queueTimes, run.startedAt - run.createdAt)
    if (run.status !== 'cancelled') count(tally.durations, run.finishedAt - run.startedAt)
  }
  return spans
}

function count(to: RunTally['durations'], ms: number): void {
  to.sumMs += ms
  const of = durationClass(ms)
  to.counts.set(of, (to.counts.get(of) ?? 0) + 1)
}

const series = (store: Store, step: SeriesStep = '1h', scope = {}, namespace = NS) =>
  store.in(namespace).runSeries({ step, since: FROM, until: UNTIL, ...scope })

/** Counts all runs that ended before the time. */
async function countAll(store: Store, { before = UNTIL, limit = 2000 } = {}): Promise<number> {
  let all = 0
  for (let counted = limit; counted === limit; all += counted) counted = await store.countEnds({ before, limit })
  return all
}

export function rollupsContract(open: OpenStore): void {
  describe('roll-ups', () => {
    const store = eachStore(open)

    it('count every end once, by span, app and workflow, while they are written and after', async () => {
      const { between, next } = seeded(7)
      const int = (max: number) => between(0, max - 1)
      const pick = <T>(of: readonly T[]) => of[int(of.length)] as T
      const runs = Array.from({ length: 1000 }, (_, i): Run => {
        const createdAt = FROM + int(3 * HOUR)
        const startedAt = next() < 0.1 ? undefined : createdAt + int(5000)
        // Many ends have the same time.
        const finishedAt = (startedAt ?? createdAt) + (i % 3 === 0 ? 0 : 2 ** int(18))
        const names = { app: pick(['shop', 'mail']), workflow: pick(['order', 'refund', 'letter']) }
        const status = startedAt === undefined ? 'cancelled' : pick([...TERMINAL_STATUSES])
        const common = {
          ...names,
          ...(next() < 0.1 ? { failure: { message: 'no card', code: 'step_failed' } } : {}),
          createdAt,
          startedAt,
          namespace: i % 10 === 0 ? 'other' : NS,
          availableAt: undefined,
        }
        return next() < 0.05 ? aRun({ ...common, status: 'waiting' }) : aRun({ ...common, status, finishedAt })
      })
      await write(
        store(),
        runs.map(run => ({ type: 'run.created', run })),
      )
      const own = runs.filter(({ namespace }) => namespace === NS)
      const check = async () => {
        for (const step of Object.keys(SPAN_MS) as SeriesStep[])
          expect(await series(store(), step)).toEqual(expected(own, step))
        for (const scope of [{ app: 'shop' }, { workflow: 'order' }, { app: 'mail', workflow: 'letter' }]) {
          const ofScope = own.filter(run =>
            Object.entries(scope).every(([name, value]) => run[name as 'app'] === value),
          )
          expect(await series(store(), '1h', scope)).toEqual(expected(ofScope, '1h'))
        }
      }
      await check()
      // Counts a part of the runs, up to the middle of ends with the same time.
      for (let i = 0; i < 3; i++) expect(await store().countEnds({ before: UNTIL, limit: 101 })).toBe(101)
      await check()
      const ended = runs.filter(({ finishedAt }) => finishedAt !== undefined).length
      expect(await countAll(store())).toBe(ended - 303)
      await check()
      expect(await countAll(store())).toBe(0)
      const others = runs.filter(({ namespace }) => namespace !== NS)
      expect(await series(store(), '1h', {}, 'other')).toEqual(expected(others, '1h'))
    })

    it('count an end whose commit comes behind others that are counted', async () => {
      const [early, same, late] = [
        anEnd({ createdAt: FROM, finishedAt: FROM + 10 }),
        anEnd({ createdAt: FROM, finishedAt: FROM + MINUTE }),
        anEnd({ createdAt: FROM, finishedAt: FROM + MINUTE }),
      ]
      await write(store(), ...[early, same, late].map(({ live }) => created(live)))
      await write(store(), moved(late.live, late.end))
      expect(await countAll(store())).toBe(1)
      // `early` sorts before `late` by its time, `same` by its id.
      for (const each of [early, same]) {
        await write(store(), moved(each.live, each.end))
        const ended = [late.run, ...(each === early ? [early.run, same.live] : [early.run, same.run])]
        expect(await series(store())).toEqual(expected(ended, '1h'))
      }
      expect(await countAll(store(), { before: 0 })).toBe(2)
      expect(await countAll(store())).toBe(0)
      expect(await series(store())).toEqual(expected([early.run, same.run, late.run], '1h'))
    })

    it('count once what several count at the same time', async () => {
      const runs = Array.from({ length: 40 }, (_, i) => anEnd({ createdAt: FROM, finishedAt: FROM + 40 - i }))
      await write(store(), ...runs.map(({ live }) => created(live)))
      const ends = runs.map(({ live, end }) => write(store(), moved(live, end)))
      const counts = runs.map((_, i) => store().countEnds({ before: FROM + i, limit: 3 }))
      await Promise.all([...ends, ...counts])
      await countAll(store())
      expect(await series(store())).toEqual(
        expected(
          runs.map(({ run }) => run),
          '1h',
        ),
      )
    })

    it('keep their counts when runs are removed, counted or not', async () => {
      const runs = Array.from({ length: 6 }, (_, i) => anEnd({ createdAt: FROM, finishedAt: FROM + i * MINUTE }))
      await write(store(), ...runs.map(({ live }) => created(live)))
      for (const { live, end } of runs.slice(1)) await write(store(), moved(live, end))
      await countAll(store(), { before: FROM + 3 * MINUTE })
      const [{ live, end }] = runs as [(typeof runs)[number]]
      await write(store(), moved(live, end))
      const all = expected(
        runs.map(({ run }) => run),
        '1h',
      )
      // One is late, two are counted, two are not, and one is kept.
      expect(await store().prune({ rows: 'runs.succeeded', before: FROM + 5 * MINUTE, limit: 9 })).toBe(5)
      expect(await series(store())).toEqual(all)
      expect(await countAll(store())).toBe(4)
      expect(await series(store())).toEqual(all)
    })

    it('keep their counts when runs are erased, counted or not, and the counts of runs lose them', async () => {
      const runs = [0, 1].map(i => anEnd({ createdAt: FROM, finishedAt: FROM + i * MINUTE }).run)
      await write(store(), ...runs.map(run => created(run)))
      expect(await countAll(store(), { before: FROM + 1 })).toBe(1)
      for (const { id: runId } of runs)
        await write(store(), { type: 'run.erased', namespace: NS, runId, eventIds: [], at: FROM + HOUR })
      const check = async () => {
        expect(await series(store())).toEqual(expected(runs, '1h'))
        expect((await store().in(NS).runTotals({})).workflows).toMatchObject([{ tally: { started: 2, succeeded: 2 } }])
        expect((await store().in(NS).runTotals({ countsOnly: true })).workflows).toMatchObject([
          { tally: { started: 2, succeeded: 2 } },
        ])
        expect(await store().in(NS).stats({})).toMatchObject({ succeeded: 0 })
      }
      await check()
      expect(await countAll(store())).toBe(1)
      await check()
    })

    /** Minutes from `since`: within an hour, to a full hour or day and beyond, over days, up to a run and beyond it; empty. */
    const WINDOWS = [
      [-425, 0],
      [-5, 0],
      [0, 5],
      [0, 50],
      [0, 55],
      [0, 1015],
      [0, 1440],
      [5, 1500],
      [-1440, 2880],
      [1435, 4325],
      [5, 5],
    ]

    it('give the totals of each workflow, and live runs by what they wait for', async () => {
      const since = spanStart('5m', FROM + 7 * HOUR + 7 * MINUTE)
      const runs = [0, 1, 2, 3]
        .map(day => anEnd({ createdAt: FROM + day * DAY, finishedAt: since + day * DAY - day }))
        .map(({ run }) => run)
      const before = anEnd({ createdAt: FROM, finishedAt: since - 1, app: 'mail' }).run
      const held = aRun({ createdAt: since, waitingFor: { kind: 'concurrency' } })
      await write(store(), ...[...runs, before, held].map(run => created(run)))
      const total = { ...emptyTally(), started: 4, succeeded: 4 }
      const live = [
        {
          app: 'shop',
          workflow: 'order',
          kind: 'run',
          status: 'queued',
          waitingKind: 'concurrency',
          runs: 1,
          created: 1,
        },
      ]
      const expectTotals = async () => {
        const reads = store().in(NS)
        const totals = await reads.runTotals({ since })
        expect(totals.live).toEqual(live)
        expect(totals.workflows.find(({ app }) => app === 'shop')?.tally).toMatchObject({
          ...total,
          durations: {},
          queueTimes: {},
        })
        expect((await reads.runTotals({ app: 'mail' })).workflows).toMatchObject([
          { tally: { started: 1, succeeded: 1 } },
        ])
        expect((await reads.runTotals({ workflow: 'none' })).workflows).toEqual([])
        const all = [...runs, before, held]
        for (const [from, until] of WINDOWS.map(window => window.map(minutes => since + minutes * MINUTE))) {
          const isIn = (at = 0) => at >= (from as number) && at < (until as number)
          const { workflows } = await reads.runTotals({ since: from, until })
          const sum = (of: 'started' | 'succeeded') => workflows.reduce((sum, { tally }) => sum + tally[of], 0)
          const ended = all.filter(({ finishedAt }) => isIn(finishedAt)).length
          expect([sum('started'), sum('succeeded')]).toEqual([
            all.filter(({ createdAt }) => isIn(createdAt)).length,
            ended,
          ])
        }
      }
      await expectTotals()
      expect(await countAll(store(), { before: UNTIL + DAY })).toBe(5)
      await expectTotals()
    })

    it('count on-failure runs apart, live ones and failures of theirs too', async () => {
      const failure = { message: 'no card', code: 'step_failed' }
      const failed = { status: 'failed', error: { message: 'no mail', code: 'step_failed' } } as const
      const at = { createdAt: FROM, startedAt: FROM, availableAt: undefined }
      const runs = [
        aRun({ ...at, ...failed, finishedAt: FROM + 1 }),
        aRun({ ...at, ...failed, failure, finishedAt: FROM + 3 }),
        aRun({ ...at, status: 'succeeded', failure, finishedAt: FROM + 2 }),
        aRun({ createdAt: FROM, status: 'waiting', waitingFor: { kind: 'sleep' } }),
        aRun({ createdAt: FROM, status: 'waiting', waitingFor: { kind: 'sleep' }, failure }),
        aRun({ createdAt: FROM, status: 'waiting', failure }),
        aRun({ createdAt: FROM, failure }),
        aRun({ createdAt: FROM }),
      ]
      await write(store(), ...runs.map(run => created(run)))
      const check = async () => {
        const reads = store().in(NS)
        const trend = { from: FROM, spanMs: HOUR, count: 1, step: '1h' } as const
        const totals = await reads.runTotals({ since: FROM, until: FROM + HOUR, trend })
        expect(totals.workflows).toMatchObject([
          {
            tally: { started: 3, failed: 1, succeeded: 0, onFailure: { succeeded: 1, failed: 1, cancelled: 0 } },
            trend: { started: [3], failed: [1] },
          },
        ])
        const live = totals.live.map(({ kind, status, waitingKind, runs, created }) => [
          ...[kind, status, waitingKind, runs, created],
        ])
        expect(new Set(live)).toEqual(
          new Set([
            ['run', 'waiting', 'sleep', 1, 1],
            ['run', 'queued', undefined, 1, 1],
            ['onFailure', 'waiting', 'sleep', 1, 1],
            ['onFailure', 'waiting', undefined, 1, 1],
            ['onFailure', 'queued', undefined, 1, 1],
          ]),
        )
        expect([...(await series(store())).values()]).toMatchObject([{ started: 3, failed: 1, succeeded: 0 }])
        expect(await reads.lastFailures({ since: FROM })).toMatchObject([{ runId: runs[0]?.id }])
        expect(await reads.errorGroups({ since: FROM, limit: 9 })).toMatchObject([
          { count: 1, kind: expect.any(String) },
          { count: 1 },
        ])
      }
      await check()
      expect(await countAll(store(), { before: UNTIL })).toBe(3)
      await check()
      expect(await store().in(NS).stats({ kind: 'run' })).toMatchObject({
        failed: 1,
        succeeded: 0,
        waiting: 1,
        queued: 1,
      })
      expect(await store().in(NS).stats({ kind: 'onFailure', app: 'shop' })).toMatchObject({ failed: 1, waiting: 2 })
      expect(await store().in(NS).stats({})).toMatchObject({ failed: 2, succeeded: 1, waiting: 3, queued: 2 })
    })
  })
}
