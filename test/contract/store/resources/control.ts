// Control: the runs of a bulk replay, and the audit log of actions.

import { beforeEach, describe, expect, it } from 'vitest'
import type { ControlAction } from '../../../../packages/engine/src/domain/model/control-action.ts'
import type { Run, RunFilter, RunStatus } from '../../../../packages/engine/src/domain/model/run.ts'
import { earliestId } from '../../../../packages/engine/src/domain/text/ids.ts'
import type { ControlQuery } from '../../../../packages/engine/src/ports/store-reads.ts'
import { aRun, created, eachStore, NOW, NS, type OpenStore, write } from '../samples.ts'

const STATUSES: RunStatus[] = ['queued', 'running', 'waiting', 'paused', 'succeeded', 'failed', 'cancelled']

function endedRun(fields: Partial<Run> = {}): Run {
  return aRun({ status: 'failed', finishedAt: NOW, finishedSeq: 9, availableAt: undefined, ...fields })
}

export function controlContract(open: OpenStore): void {
  describe('replayable runs', () => {
    const store = eachStore(open)
    const replayable = (filter: RunFilter, limit = 100) => store().in(NS).replayable(filter, limit)

    it('are counted, and the ended ones are listed newest first', async () => {
      const runs = STATUSES.map((status, i) =>
        i < 4 ? aRun({ status, createdAt: NOW + i }) : endedRun({ status, createdAt: NOW + i }),
      )
      const twin = endedRun({ createdAt: NOW + 6 })
      await write(store(), ...[...runs, twin].map(run => created(run)))
      const ids = [twin, ...runs.slice(4).reverse()].map(run => run.id)
      expect(await replayable({})).toEqual({ matched: 8, finished: 4, runIds: ids })
      expect(await replayable({}, 2)).toEqual({ matched: 8, finished: 4, runIds: ids.slice(0, 2) })
    })

    it('are narrowed by every field of the filter, and by all of them together', async () => {
      const wanted = { app: 'a', workflow: 'w', triggerKind: 'cron', createdAt: NOW + 10 } as const
      const run = endedRun(wanted)
      const others: Partial<Run>[] = [
        { app: 'b' },
        { workflow: 'v' },
        { status: 'succeeded' },
        { triggerKind: 'event' },
        { createdAt: NOW + 9 },
      ]
      await write(store(), created(run), ...others.map(other => created(endedRun({ ...wanted, ...other }))))
      const filter = {
        app: 'a',
        workflow: 'w',
        status: ['failed'],
        runType: 'cron',
        since: NOW + 10,
      } satisfies RunFilter
      expect(await replayable(filter)).toEqual({ matched: 1, finished: 1, runIds: [run.id] })
      for (const field of Object.keys(filter) as (keyof typeof filter)[]) {
        expect(await replayable({ [field]: filter[field] }), field).toMatchObject({ matched: 5, finished: 5 })
        expect(await replayable({ ...filter, [field]: undefined }), field).toMatchObject({ matched: 2 })
      }
    })

    it('that run are those that wait, too', async () => {
      await write(store(), ...STATUSES.slice(0, 4).map(status => created(aRun({ status }))), created(endedRun()))
      expect(await replayable({ status: ['running'] })).toEqual({ matched: 2, finished: 0, runIds: [] })
      expect(await replayable({ status: ['waiting'] })).toMatchObject({ matched: 1 })
    })

    it('are those of the namespace', async () => {
      await write(store(), created(endedRun({ namespace: 'theirs' })))
      expect(await replayable({})).toEqual({ matched: 0, finished: 0, runIds: [] })
    })
  })

  describe('control actions', () => {
    const store = eachStore(open)
    const ids = async (query: Partial<ControlQuery> = {}, namespace = NS) =>
      (
        await store()
          .in(namespace)
          .controlActions({ limit: 100, ...query })
      ).map(({ id }) => id)

    const cancelled = anAction('act_1', { action: 'cancel', runId: 'run_1' })
    const replayed: ControlAction = anAction('act_2', {
      action: 'replay',
      runId: 'run_1',
      newRunId: 'run_2',
      actor: 'ops',
    })
    const retried = anAction('act_3', {
      action: 'retry_from_step',
      runId: 'run_2',
      newRunId: 'run_3',
      detail: '{"n":1.0}',
    })
    const bulk = anAction('act_4', { action: 'bulk_replay' })
    const theirs = anAction('act_5', { namespace: 'theirs', action: 'cancel', runId: 'run_1' })

    beforeEach(async () => {
      for (const action of [cancelled, replayed, retried, bulk, theirs])
        await write(store(), [{ type: 'control.recorded', action }])
    })

    it('are listed newest first, as they were recorded', async () => {
      expect(await store().in(NS).controlActions({ limit: 100 })).toEqual([bulk, retried, replayed, cancelled])
      expect(await ids({ limit: 2 })).toEqual(['act_4', 'act_3'])
    })

    it('are listed as they were recorded last', async () => {
      const further = { ...bulk, detail: '{"replayed":2}' }
      for (let i = 0; i < 2; i++) await write(store(), [{ type: 'control.recorded', action: further }])
      expect(await store().in(NS).controlActions({ action: 'bulk_replay', limit: 100 })).toEqual([further])
    })

    it('are found by kind', async () => {
      expect(await ids({ action: 'replay' })).toEqual(['act_2'])
      expect(await ids({ action: 'pause' })).toEqual([])
    })

    it('are found by their actor, from a time on, and in pages', async () => {
      expect(await ids({ actor: 'ops' })).toEqual(['act_2'])
      expect(await ids({ actor: 'nobody' })).toEqual([])
      expect(await ids({ before: 'act_4', limit: 2 })).toEqual(['act_3', 'act_2'])
      expect(await ids({ before: 'act_2', runId: 'run_1' })).toEqual(['act_1'])
      const [early, late] = [earliestId('act', NOW), earliestId('act', NOW + 1)]
      for (const id of [`${early}0`, `${late}0`])
        await write(store(), [
          { type: 'control.recorded', action: anAction(id, { namespace: 'timed', action: 'cancel' }) },
        ])
      expect(await ids({ since: NOW + 1 }, 'timed')).toEqual([`${late}0`])
      expect(await ids({ since: NOW }, 'timed')).toEqual([`${late}0`, `${early}0`])
      expect(await ids({ since: NOW, before: `${late}0` }, 'timed')).toEqual([`${early}0`])
    })

    it('are found by the run they target or forked into', async () => {
      expect(await ids({ runId: 'run_1' })).toEqual(['act_2', 'act_1'])
      expect(await ids({ runId: 'run_2' })).toEqual(['act_3', 'act_2'])
      expect(await ids({ runId: 'run_2', limit: 1 })).toEqual(['act_3'])
      expect(await ids({ runId: 'run_2', action: 'replay' })).toEqual(['act_2'])
      expect(await ids({ runId: 'run_4' })).toEqual([])
    })

    it('are those of the namespace', async () => {
      expect(await ids({}, 'theirs')).toEqual(['act_5'])
      expect(await ids({ runId: 'run_1' }, 'theirs')).toEqual(['act_5'])
      expect(await ids({}, 'nobody')).toEqual([])
    })
  })
}

function anAction(id: string, fields: Omit<Partial<ControlAction>, 'action'> & Pick<ControlAction, 'action'>) {
  return { namespace: NS, id, createdAt: NOW, ...fields }
}
