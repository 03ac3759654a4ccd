// The event log, steps that wait for events, and dedupe ids. No event is lost between a read and a wait, and no event is taken
// twice.

import { describe, expect, it } from 'vitest'
import type { Change, Guard } from '../../../../packages/engine/src/domain/model/change.ts'
import type { Step } from '../../../../packages/engine/src/domain/model/step.ts'
import type {
  EventFilter,
  EventNamesQuery,
  PositionedEvent,
} from '../../../../packages/engine/src/ports/store-reads.ts'
import {
  aLeasedRun,
  anEvent,
  aParkedRun,
  aRun,
  aStep,
  aWait,
  created,
  eachStore,
  holds,
  NOW,
  NS,
  type OpenStore,
  waitersAre,
  write,
} from '../samples.ts'

function logged(fields: Parameters<typeof anEvent>[0]): Change {
  return { type: 'event.recorded', event: anEvent(fields) }
}

export function eventsContract(open: OpenStore): void {
  describe('events', () => {
    const store = eachStore(open)

    it('keeps every field of an event, and positions that rise', async () => {
      const plain = anEvent()
      const full = anEvent({
        app: 'shop',
        source: 'emit',
        data: '{"n":12345678901234567890}',
        woke: 2,
        triggered: [{ workflow: 'a', app: 'shop', runId: 'run_1' }],
        decided: { unmet: [['b', 'shop', 'go', 'false']], woken: [['run_2', 0]], waited: 2 },
      })
      await write(store(), { type: 'event.recorded', event: plain }, { type: 'event.recorded', event: full })
      expect(await store().in(NS).event(full.id)).toEqual(full)
      const [newest, older] = await store().in(NS).events({ limit: 10 })
      expect([newest?.event, older?.event]).toEqual([full, plain])
      expect(newest?.position).toBeGreaterThan(older?.position as number)
    })

    it('ends a page of the log early where data is large, and loses none', async () => {
      const data = JSON.stringify('x'.repeat(1_000_000))
      const all = Array.from({ length: 20 }, (_, i) => anEvent(i === 4 ? {} : { data }))
      for (const event of all) await write(store(), { type: 'event.recorded', event })
      const pages: string[][] = []
      for (let before: number | undefined; ; ) {
        const page = await store().in(NS).events({ limit: 100, before })
        if (page.length === 0) break
        pages.push(page.map(({ event }) => event.id))
        before = page.at(-1)?.position
      }
      expect(pages.flat()).toEqual(all.map(({ id }) => id).reverse())
      expect(pages.map(({ length }) => length)).toEqual([18, 2])
    })

    it('are filtered by name, its beginning, source and time of arrival, in any combination', async () => {
      const minute = 60_000
      const events = Array.from({ length: 120 }, (_, i) =>
        anEvent({
          name: ['order/paid', 'order/sent', 'user', 'orders'][i % 4] as string,
          source: i % 3 === 0 ? 'emit' : 'api',
          // Some events are committed later than they arrived.
          receivedAt: NOW + (i + (i % 5 === 0 ? 4 : 0)) * minute,
          ...(i % 2 === 0 ? { app: 'shop' } : {}),
        }),
      )
      for (const event of events) await write(store(), { type: 'event.recorded', event })
      await write(store(), { type: 'event.recorded', event: anEvent({ namespace: 'other', name: 'order/paid' }) })
      const filters: EventFilter[] = [
        {},
        { name: 'user' },
        { app: 'shop' },
        { app: 'shop', name: 'order/paid' },
        { prefix: 'order' },
        { prefix: 'order/', source: 'emit' },
        { prefix: 'none' },
        { since: NOW + 31 * minute },
        { until: NOW + 30 * minute },
        { since: NOW + 40 * minute, until: NOW + 43 * minute },
        { since: NOW + 10 * minute, until: NOW + 100 * minute, app: 'shop', source: 'api', name: 'user' },
        { since: NOW + 1000 * minute },
        { until: NOW },
        { app: 'none' },
      ]
      for (const filter of filters) {
        const { app, name, prefix = '', source, since = 0, until = Number.POSITIVE_INFINITY } = filter
        const matching = events.filter(
          event =>
            (app ?? event.app) === event.app &&
            (name ?? event.name) === event.name &&
            (source ?? event.source) === event.source &&
            event.name.startsWith(prefix) &&
            event.receivedAt >= since &&
            event.receivedAt < until,
        )
        const found: string[] = []
        for (let before: number | undefined; ; ) {
          const page = await store()
            .in(NS)
            .events({ ...filter, limit: 7, before })
          found.push(...page.map(({ event }) => event.id))
          before = page.at(-1)?.position
          if (page.length < 7) break
        }
        expect(found, JSON.stringify(filter)).toEqual(matching.map(({ id }) => id).reverse())
      }
    })

    it('have names, each with its newest event, in pages', async () => {
      for (const name of ['b', 'a/2', 'a/1', 'b', 'a', 'c'])
        await write(store(), { type: 'event.recorded', event: anEvent({ name }) })
      const newest = anEvent({ name: 'a/1', receivedAt: NOW + 5 })
      await write(store(), { type: 'event.recorded', event: newest })
      await write(store(), { type: 'event.recorded', event: anEvent({ namespace: 'other', name: 'aa' }) })
      const names = async (query: Omit<EventNamesQuery, 'limit'>, limit = 9) =>
        (
          await store()
            .in(NS)
            .eventNames({ ...query, limit })
        ).map(({ name }) => name)
      expect(await names({})).toEqual(['a', 'a/1', 'a/2', 'b', 'c'])
      expect(await names({}, 2)).toEqual(['a', 'a/1'])
      expect(await names({ after: 'a/1' }, 2)).toEqual(['a/2', 'b'])
      expect(await names({ prefix: 'a/' })).toEqual(['a/1', 'a/2'])
      expect(await names({ prefix: 'a/', after: 'a/1' })).toEqual(['a/2'])
      expect(await names({ prefix: 'd' })).toEqual([])
      expect(await store().in(NS).eventNames({ prefix: 'a/1', limit: 1 })).toEqual([
        { name: 'a/1', lastAt: NOW + 5, lastEventId: newest.id },
      ])
    })

    it('are counted by name since a time, up to a bound', async () => {
      const hour = 3_600_000
      const events = Array.from({ length: 1060 }, (_, i) =>
        anEvent({ name: i % 50 === 0 ? 'few' : 'many', receivedAt: NOW + i * hour }),
      )
      await write(store(), ...events.map(event => ({ type: 'event.recorded', event }) as const))
      const counts = async (since: number) =>
        Object.fromEntries(
          (await store().in(NS).eventNames({ since, limit: 9 })).map(({ name, count }) => [name, count]),
        )
      expect(await counts(NOW)).toEqual({ few: 22, many: 1001 })
      expect(await counts(NOW + 1000 * hour)).toEqual({ few: 2, many: 58 })
      expect(await counts(NOW + 1060 * hour)).toEqual({ few: 0, many: 0 })
    })

    it('finds the waits of a name, oldest first, and only those that still wait', async () => {
      const run = aParkedRun({ input: JSON.stringify('x'.repeat(5000)) })
      const other = aParkedRun()
      const steps = [
        aWait(run, { index: 0, seq: 3, startedAt: NOW + 3 }),
        aWait(run, { index: 1, seq: 4, startedAt: NOW + 1, condition: 'async.data.a == 1' }),
        aWait(run, { index: 2, seq: 5, eventName: 'stop' }),
        aStep(run, { index: 3, seq: 6, op: 'WaitForEvent', eventName: 'go' }),
        aStep(run, { index: 4, seq: 7, op: 'Sleep', status: 'waiting', finishedAt: undefined }),
      ]
      await write(store(), created(run, ...steps), created(other, aWait(other, { startedAt: NOW + 2 })))
      expect((await store().waiters({ namespace: NS, eventName: 'go' })).waiters).toEqual([
        {
          runId: run.id,
          stepIndex: 1,
          since: NOW + 1,
          condition: { filter: 'async.data.a == 1', trigger: { name: run.trigger.name, data: run.input } },
        },
        { runId: other.id, stepIndex: 0, since: NOW + 2 },
        { runId: run.id, stepIndex: 0, since: NOW + 3 },
      ])
      await write(
        store(),
        { type: 'step.woken', runId: other.id, stepIndex: 0, status: 'succeeded', at: NOW },
        {
          type: 'step.moved',
          step: { ...(steps[1] as Step), status: 'cancelled', seq: 20, finishedAt: NOW },
        },
      )
      expect((await store().waiters({ namespace: NS, eventName: 'go' })).waiters).toMatchObject([
        { runId: run.id, stepIndex: 0 },
      ])
      expect((await store().waiters({ namespace: NS, eventName: 'nothing' })).waiters).toEqual([])
    })

    it('holds a waiters guard for exactly the steps that wait', async () => {
      const [a, b] = [aParkedRun(), aParkedRun()]
      await write(store(), created(a, aWait(a), aWait(a, { index: 1, seq: 4 })), created(b, aWait(b)))
      const all = [a, a, b].map((run, i) => ({ runId: run.id, stepIndex: i === 1 ? 1 : 0 }))
      expect(await holds(store(), waitersAre(...all))).toBe(true)
      expect(await holds(store(), waitersAre(...all.reverse()))).toBe(true)
      expect(await holds(store(), waitersAre())).toBe(false)
      expect(await holds(store(), waitersAre(...all.slice(1)))).toBe(false)
      expect(await holds(store(), waitersAre(...all.slice(1), { runId: b.id, stepIndex: 1 }))).toBe(false)
      expect(await holds(store(), waitersAre(...all, { runId: 'run_none', stepIndex: 0 }))).toBe(false)
      const none: Guard = { type: 'waiters', namespace: NS, eventName: 'stop', waiters: [] }
      expect(await holds(store(), none)).toBe(true)
      expect(await holds(store(), { ...none, waiters: [all[0] as never] })).toBe(false)
    })

    it('never lets an event and a wait miss each other', async () => {
      const run = aLeasedRun()
      await write(store(), created(run))
      const noneSince: Guard = {
        type: 'events',
        namespace: NS,
        eventName: 'go',
        runId: run.id,
        after: 'run',
      }
      const wait = () => store().commit({ guards: [noneSince], changes: [{ type: 'step.recorded', step: aWait(run) }] })
      const event = () => store().commit({ guards: [waitersAre()], changes: [logged({ receivedAt: NOW + 5 })] })
      const [waited, sent] = await Promise.allSettled([wait(), event()])
      expect([waited.status, sent.status]).toEqual(['fulfilled', 'rejected'])
      await write(store(), { type: 'step.woken', runId: run.id, stepIndex: 0, status: 'succeeded', at: NOW })
      const [sentFirst, waitedLate] = await Promise.allSettled([event(), wait()])
      expect([sentFirst.status, waitedLate.status]).toEqual(['fulfilled', 'rejected'])
    })

    /** Creates a run now. Its waits look back to this moment. */
    const aRunNow = async () => {
      const run = aLeasedRun()
      await write(store(), created(run))
      return run.id
    }
    const positions = async () => (await store().in(NS).events({ limit: 9 })).map(({ position }) => position).reverse()

    it('holds an events guard until an event of that name comes that counts', async () => {
      await write(store(), logged({}))
      const runId = await aRunNow()
      const guard = (after: number | 'run' = 'run'): Guard => ({
        type: 'events',
        namespace: NS,
        eventName: 'go',
        runId,
        after,
      })
      expect(await holds(store(), guard())).toBe(true)
      await write(store(), logged({ name: 'stop' }))
      expect(await holds(store(), guard())).toBe(true)
      await write(store(), logged({}))
      expect(await holds(store(), guard())).toBe(false)
      const last = (await positions()).at(-1) as number
      expect(await holds(store(), guard(last - 1))).toBe(false)
      expect(await holds(store(), guard(last))).toBe(true)
      await write(store(), logged({}))
      expect(await holds(store(), guard(last))).toBe(false)
    })

    it('goes by the position in the log, whatever the clocks showed', async () => {
      await write(store(), logged({ receivedAt: NOW + 3_600_000 }))
      const runId = await aRunNow()
      const late = anEvent({ receivedAt: NOW - 3_600_000 })
      await write(store(), { type: 'event.recorded', event: late })
      const query = { namespace: NS, eventName: 'go', runId, after: 'run' } as const
      expect(await holds(store(), { type: 'events', ...query })).toBe(false)
      expect((await store().eventsSince({ ...query, limit: 9 })).map(({ event }) => event)).toEqual([late])
    })

    it('answers the events since a run was created and after a position, oldest first, in pages', async () => {
      await write(store(), logged({}))
      const runId = await aRunNow()
      const events = Array.from({ length: 5 }, (_, i) => anEvent({ data: `${i}` }))
      await write(
        store(),
        events.map((event): Change => ({ type: 'event.recorded', event })),
        logged({ name: 'stop' }),
      )
      const query = { namespace: NS, eventName: 'go', runId, after: 'run', limit: 10 } as const
      const all = await store().eventsSince(query)
      expect(all.map(({ event }) => event)).toEqual(events)
      for (const limit of [1, 2, 3]) {
        const paged = []
        for (let after: number | 'run' = 'run'; ; ) {
          const page: PositionedEvent[] = await store().eventsSince({ ...query, after, limit })
          paged.push(...page)
          if (page.length < limit) break
          after = page.at(-1)?.position as number
        }
        expect(paged, `pages of ${limit}`).toEqual(all)
      }
      expect(await store().eventsSince({ ...query, runId: await aRunNow() })).toEqual([])
    })
  })

  describe('a dedupe id', () => {
    const store = eachStore(open)
    const claimed = (fields: { app?: string; dedupeId?: string; expiresAt?: number } = {}): Change => ({
      type: 'dedupe.claimed',
      namespace: NS,
      app: 'shop',
      dedupeId: 'd1',
      expiresAt: NOW + 100,
      ...fields,
    })
    const free = (now: number, fields: { namespace?: string; app?: string; dedupeId?: string } = {}): Guard => ({
      type: 'dedupe',
      namespace: NS,
      app: 'shop',
      dedupeId: 'd1',
      now,
      ...fields,
    })

    it('is claimed for a time, by app', async () => {
      expect(await holds(store(), free(NOW))).toBe(true)
      await write(store(), claimed())
      expect(await holds(store(), free(NOW))).toBe(false)
      expect(await holds(store(), free(NOW + 99))).toBe(false)
      expect(await holds(store(), free(NOW + 100))).toBe(true)
      expect(await holds(store(), free(NOW, { app: '' }))).toBe(true)
      expect(await holds(store(), free(NOW, { dedupeId: 'd2' }))).toBe(true)
      expect(await holds(store(), free(NOW, { namespace: 'other' }))).toBe(true)
    })

    it('knows the event that claimed it, until its time is over', async () => {
      await write(store(), { ...claimed(), eventId: 'evt_1' } as Change, claimed({ dedupeId: 'd2' }))
      const key = (dedupeId: string, now = NOW) => ({ namespace: NS, app: 'shop', dedupeId, now })
      expect(await store().dedupeClaim(key('d1'))).toEqual({ eventId: 'evt_1' })
      expect(await store().dedupeClaim(key('d1', NOW + 100))).toBeUndefined()
      expect(await store().dedupeClaim(key('d2'))).toEqual({})
    })

    it('can be claimed anew when its time is over', async () => {
      await write(store(), claimed())
      await store().commit({ guards: [free(NOW + 150)], changes: [claimed({ expiresAt: NOW + 300 })] })
      expect(await holds(store(), free(NOW + 200))).toBe(false)
    })

    it('goes to one of many that race for it', async () => {
      const run = () => aRun()
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, () =>
          store().commit({ guards: [free(NOW)], changes: [claimed(), ...created(run())] }),
        ),
      )
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(await store().in(NS).runs({ limit: 100 })).toHaveLength(1)
    })
  })
}
