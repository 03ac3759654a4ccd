// The value of a policy's key for an event: events with the same one share a count, a buffer, a claim.

import type { Workflow } from '../model/workflow.ts'
import { boundedKey } from '../text/bounded-key.ts'
import { compiled } from './compiled.ts'
import type { EventSubject, Report } from './matching.ts'

/**
 * The key of the event, bounded as a payload is not; '' without an expression. One that cannot be evaluated is reported
 * and gives '' too: all such events share one key, so that a policy is never skipped silently.
 */
export function keyOf(
  source: string | undefined,
  { subject, workflow, report }: { subject: EventSubject; workflow: Workflow; report: Report },
): string {
  if (source === undefined) return ''
  const verdict = compiled(source, 'key').key({ event: subject.subject })
  if (verdict.ok) return boundedKey(verdict.value)
  report({ of: { app: workflow.app, workflow: workflow.name }, filter: source, error: verdict.error })
  return ''
}
