// Schedules: rows that registrations create and delete, and the runs they start (docs/events.md#schedules).

import { describe, expect, it } from 'vitest'
import type { Change } from '../model/change.ts'
import type { FlowRow } from '../model/flow-row.ts'
import type { Workflow } from '../model/workflow.ts'
import { noAssumptions } from '../run/assumptions.ts'
import { FlowRows } from '../testkit/flow-rows.testkit.ts'
import { catalog, DAY, HOUR, MINUTE, NOW, workflow } from '../testkit/nouns.testkit.ts'
import { decideDueRow } from './decide-due-row.ts'
import { checkCron, scheduleChanges, scheduleView, withPause } from './schedules.ts'

const scheduled = (...crons: string[]) => workflow('tidy', { triggers: crons.map(cron => ({ cron })) })

/** The rows after the workflow was registered for the first time. */
function registered(...crons: string[]): FlowRows {
  const flow = new FlowRows(catalog())
  register(flow, scheduled(...crons))
  return flow
}

/** Registers like services/registry/register: reads the rows when the assumptions about them were wrong. */
function register(flow: FlowRows, ...workflows: Workflow[]): void {
  const before = flow.catalog.workflow
  const dropped = before('shop', 'tidy') && !workflows.some(({ name }) => name === 'tidy')
  const changes: Change[] = workflows.map(workflow => ({ type: 'workflow.registered', workflow }))
  if (dropped) changes.push({ type: 'workflow.dropped', namespace: 'default', app: 'shop', name: 'tidy' })
  flow.commit(scheduleChanges({ changes, before, assumptions: flow.assumptions, now: flow.now }))
  flow.catalog = catalog(...workflows)
}

const views = (flow: FlowRows) => [...flow.rows.values()].map(scheduleView)

describe('a registration', () => {
  it('gives every cron trigger a row, due at its next instant', () => {
    const flow = registered('0 * * * *', 'TZ=Asia/Tokyo 30 9 * * *')
    expect(views(flow)).toEqual([
      { cron: '0 * * * *', timezone: 'UTC', nextRunAt: NOW + HOUR },
      { cron: 'TZ=Asia/Tokyo 30 9 * * *', timezone: 'Asia/Tokyo', nextRunAt: NOW + 30 * MINUTE },
    ])
    expect([...flow.rows.values()].map(({ availableAt }) => availableAt)).toEqual([NOW + HOUR, NOW + 30 * MINUTE])
  })

  it('keeps a pause: of a schedule that is gone for a while, and of one whose expression changes', () => {
    const flow = registered('0 * * * *', '30 * * * *')
    const [first] = flow.rows.values() as IterableIterator<FlowRow>
    flow.commit({ guards: [], changes: [withPause(first as FlowRow, true, NOW)] })
    register(flow, workflow('other'))
    expect(views(flow)).toMatchObject([{ cron: '0 * * * *', paused: true }])
    register(flow, scheduled('0 * * * *', '30 * * * *'))
    register(flow, scheduled('15 * * * *', '30 * * * *'))
    const [kept, anew] = views(flow)
    expect(kept).not.toHaveProperty('paused')
    expect(anew).toMatchObject({ cron: '15 * * * *', paused: true, nextRunAt: NOW + 15 * MINUTE })
    flow.fire(HOUR)
    expect(flow.runs.map(({ cron }) => cron)).toEqual(['30 * * * *'])
  })

  it('is guarded by what it assumes of the rows', () => {
    const changes: Change[] = [{ type: 'workflow.registered', workflow: scheduled('0 * * * *') }]
    const before = () => undefined
    const { guards } = scheduleChanges({ changes, before, assumptions: noAssumptions(), now: NOW })
    expect(guards).toMatchObject([{ type: 'flow', version: 0 }])
  })

  it('with an invalid cron is refused, naming the field', () => {
    expect(() => checkCron('workflows[0].triggers[1].cron', '* * *')).toThrow(
      expect.objectContaining({ details: { field: 'workflows[0].triggers[1].cron' } }),
    )
  })
})

describe('an instant', () => {
  it('starts a run of the cron, without an event', () => {
    const flow = registered('0 * * * *')
    flow.fire(HOUR - 1)
    expect(flow.runs).toEqual([])
    flow.fire(3)
    const [run] = flow.runs
    expect(run).toMatchObject({
      workflow: 'tidy',
      app: 'shop',
      status: 'queued',
      triggerKind: 'cron',
      cron: '0 * * * *',
      trigger: { name: 'engine/cron' },
      createdAt: NOW + HOUR + 2,
    })
    expect(run).not.toHaveProperty('eventId')
    expect(run).not.toHaveProperty('eventName')
    expect(flow.inputs).toEqual([{ cron: '0 * * * *', scheduledAt: '2026-01-01T01:00:00.000Z' }])
    expect(views(flow)).toMatchObject([{ nextRunAt: NOW + 2 * HOUR, lastRunAt: NOW + HOUR + 2, lastRunId: run?.id }])
  })

  it('is made up for once when instants were missed, by a run of the latest', () => {
    const flow = registered('*/10 * * * * *')
    flow.fire(30 * DAY + 7000)
    expect(flow.inputs).toEqual([{ cron: '*/10 * * * * *', scheduledAt: new Date(NOW + 30 * DAY).toISOString() }])
    // The row was due 10 s after NOW, and the clock was 7 s beyond the last instant that counts.
    const missed = { from: NOW + 10_000, until: NOW + 30 * DAY - 10_000 }
    expect(views(flow)).toMatchObject([{ nextRunAt: NOW + 30 * DAY + 10_000, missed }])
    flow.fire(10_000)
    expect(views(flow)).toMatchObject([{ missed }])
    const at = (ms: number) => new Date(NOW + 30 * DAY + ms).toISOString()
    expect(flow.inputs[1]).toEqual({ cron: '*/10 * * * * *', scheduledAt: at(10_000), previousAt: at(0) })
    expect(views(flow)[0]).not.toHaveProperty('lastInstant')
  })

  it('in a suspended namespace passes without a run', () => {
    const flow = registered('0 * * * *')
    flow.suspended = true
    flow.fire(5 * HOUR)
    expect(flow.runs).toEqual([])
    const missed = { from: NOW + HOUR, until: NOW + 5 * HOUR, count: 5, cause: 'suspended' } as const
    expect(views(flow)).toEqual([{ cron: '0 * * * *', timezone: 'UTC', nextRunAt: NOW + 6 * HOUR, missed }])
    flow.fire(HOUR)
    expect(views(flow)).toMatchObject([{ missed: { from: NOW + HOUR, until: NOW + 6 * HOUR, count: 6 } }])
    flow.suspended = false
    flow.fire(HOUR)
    expect(flow.runs).toHaveLength(1)
  })

  it('of a schedule that the workflow no longer has starts nothing', () => {
    const flow = registered('0 * * * *')
    flow.catalog = catalog(scheduled('30 * * * *'))
    flow.fire(HOUR)
    flow.fire(1000)
    expect(flow.runs).toEqual([])
    expect(flow.rows.size).toBe(0)
  })

  it('that comes before its registration is known starts its run a moment later', () => {
    const flow = registered('0 * * * *')
    const { catalog: known } = flow
    flow.catalog = catalog()
    flow.fire(HOUR)
    flow.catalog = known
    flow.fire(1000)
    expect(flow.inputs).toEqual([{ cron: '0 * * * *', scheduledAt: '2026-01-01T01:00:00.000Z' }])
    expect(views(flow)).toMatchObject([{ nextRunAt: NOW + 2 * HOUR }])
    expect(views(flow)[0]).not.toHaveProperty('orphaned')
  })
})

describe('the end of a pause', () => {
  const instantAfter = (flow: FlowRows, ...acts: [paused: boolean, at: number][]) => {
    let [row] = flow.rows.values()
    for (const [paused, at] of acts) {
      const change = withPause(row as FlowRow, paused, NOW + at)
      row = change.type === 'flow.saved' ? change.row : undefined
    }
    return row?.availableAt
  }

  it('goes on with the instants that come, and repeats none when the clock was set back', () => {
    const flow = registered('0 * * * *')
    expect(instantAfter(flow, [true, 0], [false, 2.5 * HOUR])).toBe(NOW + 3 * HOUR)
    flow.fire(HOUR)
    flow.fire(HOUR)
    expect(instantAfter(flow, [true, 2 * HOUR])).toBeUndefined()
    expect(instantAfter(flow, [true, 2 * HOUR], [true, 2 * HOUR], [false, 0])).toBe(NOW + 3 * HOUR)
  })

  it('of a schedule that is not paused leaves an overdue instant, so that it fires', () => {
    expect(instantAfter(registered('0 * * * *'), [false, 1.5 * HOUR])).toBe(NOW + HOUR)
  })
})

describe('a clock that was ahead for ten days', () => {
  /** The clock is set, and the store makes every schedule due. */
  const setBackTo = (flow: FlowRows, now: number) => {
    flow.now = now
    for (const [id, row] of flow.rows) flow.rows.set(id, { ...row, availableAt: now, version: row.version + 1 })
    flow.fire()
  }
  const firedAt = (flow: FlowRows) =>
    flow.inputs.map(input => (Date.parse((input as Instant).scheduledAt) - NOW) / HOUR)
  type Instant = { scheduledAt: string }

  it('does not silence a schedule when it is put right, and no instant fires twice', () => {
    const flow = registered('0 * * * *')
    flow.fire(240.5 * HOUR)
    setBackTo(flow, NOW + MINUTE)
    expect(views(flow)).toEqual([expect.objectContaining({ nextRunAt: NOW + HOUR })])
    expect(views(flow)[0]).not.toHaveProperty('missed')
    expect(views(flow)[0]).not.toHaveProperty('firedAhead')
    flow.fire(59 * MINUTE)
    for (let hour = 2; hour <= 242; hour++) flow.fire(HOUR)
    expect(firedAt(flow).slice(0, 3)).toEqual([240, 1, 2])
    expect(firedAt(flow).slice(-3)).toEqual([239, 241, 242])
  })

  it('ends no lease of a row that was saved meanwhile', () => {
    const flow = registered('0 * * * *')
    const [row] = flow.rows.values() as IterableIterator<FlowRow>
    const { catalog, assumptions } = flow
    const due = { workflow: undefined, suspended: false, now: NOW, catalog, assumptions, report: () => {} }
    expect(decideDueRow({ ...due, row: row as FlowRow })).toBeUndefined()
  })
})
