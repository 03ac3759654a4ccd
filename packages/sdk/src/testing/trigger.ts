// Finds the event with which a test starts a run of a workflow. Called by test-engine.ts.

import type { Workflow } from '../workflow/workflow.ts'
import { TestingError } from './host/errors.ts'

/** Returns the event that starts a workflow: the first that its triggers name exactly, or without triggers its name. */
export function triggerOf({ name, registration: { triggers } }: Workflow<never, unknown>): string {
  if (!triggers) return name
  const exact = triggers.find(({ event }) => event !== undefined && !event.endsWith('*'))
  if (exact?.event !== undefined) return exact.event
  throw new TestingError(
    `No trigger of workflow "${name}" names an event: start it with {event: '...'}, or advance to its schedule`,
  )
}

/** Explains why an event started no run, from the workflow's entry in the engine's reply. */
export function notStarted(workflow: string, event: string, entry: object | undefined): string {
  const { workflow: _, app: __, ...flags } = (entry ?? {}) as Record<string, unknown>
  const outcome = Object.keys(flags).join(', ')
  return `Event "${event}" started no run of "${workflow}": ${
    entry ? `it was ${outcome}` : 'no trigger of it matches'
  }. Send it with send() instead`
}
