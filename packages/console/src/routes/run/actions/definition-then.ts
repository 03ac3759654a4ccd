// Describes the definition that a run was created under, as far as the run shows it, in sentences. Pure.

import type { Run, WorkflowDefinition } from '@perdure/protocol'

export type Then = Pick<Run, 'eventName' | 'cron' | 'triggerKind' | 'parentRunId'>

/** The last sentence says what is not known. */
export function thenWords(run: Then, { triggers }: Pick<WorkflowDefinition, 'triggers'>): string[] {
  return [startWords(run, triggers), 'The engine does not keep the rest of that definition.']
}

function startWords({ eventName, cron, parentRunId }: Then, triggers: WorkflowDefinition['triggers']): string {
  if (cron !== undefined)
    return triggers.some(trigger => trigger.cron === cron)
      ? `It started on the schedule ${cron}, as now.`
      : `It started on the schedule ${cron}, which is no trigger any more.`
  if (eventName !== undefined)
    return triggers.some(({ event }) => event !== undefined && matchesName(event, eventName))
      ? `It started on ${eventName}, as now.`
      : `It started on ${eventName}, which is no trigger any more.`
  return parentRunId === undefined ? 'It was started directly.' : 'Another run started it.'
}

/** A trigger may name a group of events by a star at its end. */
function matchesName(trigger: string, name: string): boolean {
  return trigger.endsWith('*') ? name.startsWith(trigger.slice(0, -1)) : trigger === name
}
