// Planted bugs of the features that only some seeds use (extras.ts): cleanup runs, kept slots, chains of runs, settled steps,
// waits for runs, budgets, signals and limits of steps. `planted.test.ts` shows that the simulation fails for every one of
// them.

import type { Change, Unit } from '../../../packages/engine/src/domain/model/change.ts'
import type { Run } from '../../../packages/engine/src/domain/model/run.ts'
import { RunState } from '../../../packages/engine/src/domain/run/state.ts'
import type { PlantedBug } from './planted.ts'
import { replace } from './planted-reports.ts'

export const PLANTED_IN_EXTRAS: readonly PlantedBug[] = [
  {
    name: 'a rollback is skipped',
    extras: ['cleanup'],
    tamper: changes(change => {
      if (change.type !== 'step.recorded' || !change.step.rollback || change.step.index % 2 === 0) return [change]
      const { rollback: _, ...step } = change.step
      return [{ ...change, step }]
    }),
  },
  {
    name: 'an end has no cleanup run',
    extras: ['cleanup'],
    tamper: changes(change => (isCreated(change) && change.run.cleanupOf !== undefined ? [] : [change])),
  },
  {
    name: 'a rollback is executed again',
    extras: ['cleanup'],
    tamper: changes(change => (isStored(change) && change.step.name.startsWith('rollback:') ? [] : [change])),
  },
  {
    name: 'the next run of a chain loses its slot',
    extras: ['slots', 'links'],
    tamper: changes(change => {
      if (!isCreated(change) || change.run.continuedFrom === undefined) return [change]
      const { holds: _, ...run } = change.run
      return [{ ...change, run }]
    }),
  },
  {
    name: 'a chain ends with its first run',
    extras: ['links'],
    tamper: changes(change => (isCreated(change) && change.run.continuedFrom !== undefined ? [] : [change])),
  },
  {
    name: 'a settled step is forgotten',
    from: 7,
    extras: ['settles'],
    tamper: changes(change => (change.type === 'step.moved' && change.step.settledBy ? [] : [change])),
  },
  {
    name: 'a signal is given twice',
    from: 16,
    extras: ['signals'],
    install: () => replace(RunState.prototype, 'eventsAmong', () => () => new Set()),
  },
  {
    name: 'a signal that a link leaves is lost',
    from: 7,
    extras: ['signals', 'links'],
    tamper: changes(change => (change.type === 'signals.left' && change.nextRunId !== undefined ? [] : [change])),
  },
  {
    name: 'a signal is taken in after the end',
    from: 13,
    extras: ['signals'],
    tamper: unit => (unit.changes.some(isSignal) ? { ...unit, guards: [] } : unit),
  },
  {
    name: 'a signal that is taken in is forgotten',
    extras: ['signals'],
    tamper: changes(change => (isSignal(change) ? [] : [change])),
  },
  {
    name: 'the answer to an update is forgotten',
    from: 7,
    extras: ['signals'],
    tamper: changes(change => (change.type === 'update.answered' ? [] : [change])),
  },
  {
    name: 'a limit is counted by each engine alone',
    from: 12,
    extras: ['limits'],
    // Every other run stands for runs of another engine.
    tamper: changes(change => {
      if (change.type === 'turns.granted') return [change, { ...change, poolId: `${change.poolId}+` }]
      if (change.type !== 'turn.asked' || change.runId.charCodeAt(change.runId.length - 1) % 2 === 0) return [change]
      return [{ ...change, pool: { ...change.pool, id: `${change.pool.id}+` } }]
    }),
  },
  {
    name: 'a turn counts no longer than its pass',
    extras: ['limits'],
    tamper: changes(change => (change.type === 'turn.started' ? [{ ...change, type: 'turn.left' }] : [change])),
  },
  {
    name: 'a spend is counted twice',
    extras: ['budgets'],
    tamper: changes(change => (change.type === 'budget.spent' ? [change, change] : [change])),
  },
  {
    name: 'the spend of an attempt that failed is not counted',
    from: 16,
    extras: ['budgets'],
    tamper: unit =>
      unit.changes.some(change => change.type === 'step.moved' && change.step.status === 'retrying')
        ? changes(change => (change.type === 'budget.spent' ? [] : [change]))(unit)
        : unit,
  },
  {
    name: 'a wait for a run has the end of another one',
    from: 7,
    extras: ['runWaits'],
    tamper: changes(change => {
      if (!('step' in change) || change.step.op !== 'WaitForRun' || !change.step.data) return [change]
      const data = change.step.data.replace('"status":"succeeded"', '"status":"failed"')
      return [{ ...change, step: { ...change.step, data } } as Change]
    }),
  },
  {
    name: 'a slot leaks with the cancel of its run',
    from: 12,
    extras: ['slots'],
    tamper: unit =>
      unit.changes.some(isCancel) ? changes(change => (change.type === 'slots.freed' ? [] : [change]))(unit) : unit,
  },
  {
    name: 'a kept slot is given away while its run waits',
    from: 2,
    extras: ['slots'],
    tamper: changes(change => {
      const slots = isCreated(change) && change.run.holds?.slots?.map(({ kept: _, ...slot }) => slot)
      return [slots ? withRun(change as Created, { holds: { ...(change as Created).run.holds, slots } }) : change]
    }),
  },
]

function changes(each: (change: Change) => Change[]) {
  return ({ guards, changes }: Unit): Unit => ({ guards, changes: changes.flatMap(each) })
}

type Created = Extract<Change, { type: 'run.created' }>

function isCreated(change: Change): change is Created {
  return change.type === 'run.created'
}

function isStored(change: Change): change is Extract<Change, { type: 'step.recorded' }> {
  return change.type === 'step.recorded' && change.step.status === 'succeeded'
}

function isSignal(change: Change): boolean {
  return change.type === 'event.recorded' && ['signal', 'update'].includes(change.event.source)
}

function isCancel(change: Change): boolean {
  return change.type === 'run.moved' && change.run.status === 'cancelled'
}

function withRun(change: Created, fields: Partial<Run>): Created {
  return { ...change, run: { ...change.run, ...fields } }
}
