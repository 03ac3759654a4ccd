// How a test starts a run of one workflow: by the event that triggers it, as apps do.

import type { Workflow } from '../workflow.ts'
import { TestingError } from './errors.ts'

/** The event that starts the workflow: the first that its triggers name exactly, else its own name. */
export function triggerOf({ name, registration: { triggers } }: Workflow<never, unknown>): string {
  if (!triggers) return name
  const exact = triggers.find(({ event }) => event !== undefined && !event.endsWith('*'))
  if (exact?.event !== undefined) return exact.event
  throw new TestingError(
    `No trigger of workflow "${name}" names an event: start it with {event: '...'}, or advance to its schedule`,
  )
}

/** Why the event started no run, from what it was told of the workflow. */
export function notStarted(workflow: string, event: string, entry: object | undefined): string {
  const { workflow: _, app: __, ...flags } = (entry ?? {}) as Record<string, unknown>
  const outcome = Object.keys(flags).join(', ')
  return `Event "${event}" started no run of "${workflow}": ${
    entry ? `it was ${outcome}` : 'no trigger of it matches'
  }. Send it with send() instead`
}
