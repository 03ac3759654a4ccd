// Planted bugs of direct starts and of singletons: a key that is free too early, a start that is lost, delivered events that are lost or
// given twice. `planted.test.ts` shows that the simulation fails for every one of them.

import type { Change, Guard, Unit } from '../../../packages/engine/src/domain/model/change.ts'
import type { PlantedBug } from './planted.ts'

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
    name: 'the key of a singleton is free before the end of its run is stored',
    extras: ['singletons'],
    always: ['commitSlow'],
    tamper: withGuards(guard => [guard.type === 'unended' ? { ...guard, type: 'live' } : guard]),
  },
  {
    name: 'an event is not put into the inbox',
    extras: ['singletons'],
    tamper: withChanges(change => (change.type === 'event.delivered' ? [] : [change])),
  },
  {
    name: 'a delivered event is lost in the commit of the end',
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
    extras: ['singletons'],
    always: ['commitSlow'],
    tamper: withGuards(guard => (guard.type === 'inbox' ? [] : [guard])),
  },
  {
    name: 'a delivered event that was given starts another run',
    extras: ['singletons'],
    tamper: withChanges(change => [change.type === 'inbox.left' ? { ...change, eventIds: [] } : change]),
  },
]

function withGuards(each: (guard: Guard) => Guard[]) {
  return ({ guards, changes }: Unit): Unit => ({ guards: guards.flatMap(each), changes })
}

function withChanges(each: (change: Change) => Change[]) {
  return ({ guards, changes }: Unit): Unit => ({ guards, changes: changes.flatMap(each) })
}
