// Which triggers an event meets: by its name, exactly or by a trailing `*`, and then by the trigger's filter
// (contract §6, "Event matching rules").

import type { Trigger, Workflow } from '../model/workflow.ts'
import type { JsonText } from '../text/json-text.ts'
import { compiled } from './compiled.ts'
import type { Evaluated, Scope, Subject } from './expression.ts'
import { jsonValue } from './json-value.ts'

/** An expression that could not be evaluated: a filter did not match for it, a policy's key is '' for it. */
export interface FilterFault {
  /** What it belongs to: a workflow's trigger or policy, the wait of a run, or what a run is cancelled on. */
  of: { app: string; workflow: string } | { runId: string; stepIndex?: number }
  filter: string
  error: string
}

/** Told of every fault; whoever decides passes it on to a log. */
export type Report = (fault: FilterFault) => void

/** Whether the name of an event trigger matches an event's name. A cron trigger matches none. */
export function matchesEvent(trigger: Trigger, eventName: string): boolean {
  const { event } = trigger
  if (event === undefined) return false
  return event.endsWith('*') ? eventName.startsWith(event.slice(0, -1)) : event === eventName
}

/** What expressions see of an event; its data is parsed when the first of them asks. */
export class EventSubject {
  readonly #event: { id?: string | undefined; name: string; data?: JsonText | undefined }
  #subject: Subject | undefined

  constructor(event: { id?: string | undefined; name: string; data?: JsonText | undefined }) {
    this.#event = event
  }

  get subject(): Subject {
    if (!this.#subject) {
      const { id, name, data } = this.#event
      this.#subject = {
        name,
        ...(id === undefined ? {} : { id }),
        data: data === undefined ? null : jsonValue(data),
      }
    }
    return this.#subject
  }
}

/** Whether the event meets one of the workflow's triggers. A filter that fails does not match, and is reported. */
export function isTriggered(
  workflow: Workflow,
  event: EventSubject,
  eventName: string,
  report: Report,
): boolean {
  return workflow.triggers.some(trigger => {
    if (!matchesEvent(trigger, eventName)) return false
    if (trigger.if === undefined) return true
    const verdict = evaluateCondition(trigger.if, { event: event.subject })
    if (verdict.ok) return verdict.value
    report({ of: { app: workflow.app, workflow: workflow.name }, filter: trigger.if, error: verdict.error })
    return false
  })
}

/** Whether the condition holds. In a wait it may speak of `async`, the event that has come. */
export function evaluateCondition(source: string, scope: Scope): Evaluated<boolean> {
  return compiled(source, 'condition', { inWait: scope.async !== undefined }).holds(scope)
}
