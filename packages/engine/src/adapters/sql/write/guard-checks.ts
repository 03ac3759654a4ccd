// Every guard as a check. Called by the store for each unit; the driver answers with the index of one that failed.

import type { Guard } from '../../../domain/model/change.ts'
import type { Check } from '../tables/operations.ts'

/** The checks of the guards, one each, in their order. */
export function guardChecks(guards: readonly Guard[]): Check[] {
  return guards.map(checkOf)
}

function checkOf(guard: Guard): Check {
  switch (guard.type) {
    case 'run':
      return { name: 'run.fence', params: [guard.runId], expected: [guard.fence] }
    case 'steps':
      return { name: 'steps', params: [guard.runId, guard.seq], expected: [] }
    case 'delivery':
      return { name: 'delivery.fence', params: [guard.deliveryId], expected: [guard.fence] }
    case 'endpoint':
      return { name: 'endpoint.version', params: [guard.id], expected: [guard.version] }
    case 'receiver':
      return { name: 'receiver.version', params: [guard.id], expected: [guard.version] }
    case 'flow':
      return guard.version === 0
        ? { name: 'flow.none', params: [guard.id], expected: [] }
        : { name: 'flow.version', params: [guard.id], expected: [guard.version] }
    case 'live': {
      const { namespace, app, workflow, key, runIds } = guard
      return { name: 'live', params: [namespace, workflow, app, key], expected: [...runIds] }
    }
    case 'watchers':
      return { name: 'watchers', params: [guard.namespace, guard.eventName, guard.after], expected: [] }
    case 'slug':
      return { name: 'slug', params: [guard.slug], expected: [] }
    case 'waiters': {
      const expected = guard.waiters.flatMap(({ runId, stepIndex }) => [runId, stepIndex])
      return { name: 'waiters', params: [guard.namespace, guard.eventName], expected }
    }
    case 'events': {
      const { namespace, eventName, since, after } = guard
      // Two ways to the same answer. Behind a known position only what has come since is looked at; with none
      // known, only what the run can have met. The other way round either could walk through the whole log.
      return after === 0
        ? { name: 'events', params: [namespace, eventName, since], expected: [] }
        : { name: 'eventsAfter', params: [namespace, eventName, after, since], expected: [] }
    }
    case 'dedupe': {
      const { namespace, app, dedupeId, now } = guard
      return { name: 'dedupe', params: [namespace, app, dedupeId, now], expected: [] }
    }
    case 'catalog':
      return { name: 'catalog', params: [], expected: [guard.revision] }
  }
}
