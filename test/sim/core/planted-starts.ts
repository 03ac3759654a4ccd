// Planted bugs of direct starts and of singletons: a key that becomes free too early, a start that is lost, delivered events
// that are lost or given twice. `planted.test.ts` shows that the simulation fails for every one of them.

import { SqlStore } from '../../../packages/engine/src/adapters/sql/store/sql-store.ts'
import type { Change, Guard, Unit } from '../../../packages/engine/src/domain/model/change.ts'
import { StaleError } from '../../../packages/engine/src/domain/model/errors.ts'
import type { PlantedBug } from './planted.ts'
import { replace } from './planted-reports.ts'

export const PLANTED_IN_STARTS: readonly PlantedBug[] = [
  {
    name: 'two starts with a key overlook each other',
    extras: ['starts'],
    tamper: withGuards(guard => (guard.type === 'started' ? [] : [guard])),
  },
  {
    name: 'the run that a step starts is lost',
    extras: ['starts'],
    tamper: withChanges(change => (change.type === 'run.created' && change.run.startedBy ? [] : [change])),
  },
  {
    name: 'two events of a singleton overlook each other',
    extras: ['singletons'],
    tamper: withGuards(guard => (guard.type === 'unended' || guard.type === 'live' ? [] : [guard])),
  },
  {
    name: 'a key is free before its end is stored',
    from: 12,
    extras: ['singletons'],
    always: ['commitSlow'],
    install: freeAtCancel,
  },
  {
    name: 'an event is not put into the inbox',
    extras: ['singletons'],
    tamper: withChanges(change => (change.type === 'event.delivered' ? [] : [change])),
  },
  {
    name: 'a delivered event is lost by the end',
    extras: ['singletons'],
    tamper(unit) {
      const left = unit.changes.find(change => change.type === 'inbox.left')
      const isLost = (change: Change) =>
        change.type === 'run.created' && change.run.id === left?.nextRunId && change.run.continuedFrom === undefined
      return withChanges(change => (isLost(change) ? [] : [change]))(unit)
    },
  },
  {
    name: 'an end overlooks an event that came meanwhile',
    from: 12,
    extras: ['singletons'],
    always: ['commitSlow'],
    tamper: withGuards(guard => (guard.type === 'inbox' ? [] : [guard])),
  },
  {
    name: 'an event that was given starts a run',
    extras: ['singletons'],
    tamper: withChanges(change => {
      if (change.type !== 'inbox.left' || change.nextRunId === undefined) return [change]
      return [{ ...change, eventIds: change.eventIds.slice(-1) }]
    }),
  },
]

/** Runs with a requested cancel count as ended. */
function freeAtCancel(): () => void {
  const isTheirs = (guard: Guard) => guard.type === 'unended'
  const restore = [
    replace(SqlStore.prototype, 'liveRuns', liveRuns => {
      return function (this: SqlStore, of) {
        return liveRuns.call(this, of.type === 'unended' ? { ...of, type: 'live' } : of)
      }
    }),
    replace(SqlStore.prototype, 'commit', commit => {
      return async function (this: SqlStore, unit) {
        const guards = unit.guards.map(guard => (isTheirs(guard) ? ({ ...guard, type: 'live' } as Guard) : guard))
        await commit.call(this, { ...unit, guards }).catch(error => {
          const at = error instanceof StaleError ? guards.indexOf(error.guard) : -1
          throw at < 0 ? error : new StaleError(unit.guards[at] as Guard)
        })
      }
    }),
  ]
  return () => {
    for (const each of restore) each()
  }
}

function withGuards(each: (guard: Guard) => Guard[]) {
  return ({ guards, changes }: Unit): Unit => ({ guards: guards.flatMap(each), changes })
}

function withChanges(each: (change: Change) => Change[]) {
  return ({ guards, changes }: Unit): Unit => ({ guards, changes: changes.flatMap(each) })
}
