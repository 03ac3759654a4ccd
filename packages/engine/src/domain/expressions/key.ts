// Evaluates the key of a policy for an event: events with the same key share a count, a buffer or a claim.

import type { Workflow } from '../model/workflow.ts'
import { boundedKey } from '../text/bounded-key.ts'
import { compiled } from './compiled.ts'
import type { EventSubject, Report } from './matching.ts'

/**
 * The key of the event, of bounded length; '' without an expression. An expression that cannot be evaluated is reported
 * and gives '' too: all such events share one key, so no event escapes the policy.
 */
export function keyOf(
  source: string | undefined,
  { subject, workflow, report }: { subject: EventSubject; workflow: Workflow; report: Report },
): string {
  if (source === undefined) return ''
  const key = compiled(source, 'key').key({ event: subject.subject })
  if (key.ok) return boundedKey(key.value)
  report({ of: { app: workflow.app, workflow: workflow.name }, filter: source, error: key.error })
  return ''
}
