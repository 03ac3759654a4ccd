// Describes the definition at a run's creation, as far as the run shows it, in sentences. Pure.

import type { Run, WorkflowDefinition } from '@perdure/protocol'

export type Then = Pick<Run, 'eventName' | 'cron' | 'triggerKind' | 'parentRunId'>

/** Returns the sentences. The last one says what is not known. */
export function thenWords(run: Then, { triggers }: Pick<WorkflowDefinition, 'triggers'>): string[] {
  return [startWords(run, triggers), 'The engine does not store the rest of that definition.']
}

function startWords({ eventName, cron, parentRunId }: Then, triggers: WorkflowDefinition['triggers']): string {
  if (cron !== undefined)
    return triggers.some(trigger => trigger.cron === cron)
      ? `Started by schedule ${cron}, still a trigger.`
      : `Started by schedule ${cron}, no longer a trigger.`
  if (eventName !== undefined)
    return triggers.some(({ event }) => event !== undefined && matchesName(event, eventName))
      ? `Started by ${eventName}, still a trigger.`
      : `Started by ${eventName}, no longer a trigger.`
  return parentRunId === undefined ? 'Started directly.' : 'Started by another run.'
}

/** Whether the trigger matches. It may name a group of events with a star at its end. */
function matchesName(trigger: string, name: string): boolean {
  return trigger.endsWith('*') ? name.startsWith(trigger.slice(0, -1)) : trigger === name
}
