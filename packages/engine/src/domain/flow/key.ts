// The value of a policy's key for an event: events with the same one share a count, a buffer, a claim.

import { createHash } from 'node:crypto'
import { compiled } from '../cel/compiled.ts'
import type { EventSubject, Report } from '../matching.ts'
import type { Workflow } from '../workflow.ts'

/** A longer key stands as its digest: keys are stored and indexed, and a payload may be long. */
export const KEY_CHARS_MAX = 256

/**
 * The key of the event; '' without an expression. One that cannot be evaluated is reported and gives '' too: all such
 * events share one key, so that a policy is never skipped silently.
 */
export function keyOf(
  source: string | undefined,
  { subject, workflow, report }: { subject: EventSubject; workflow: Workflow; report: Report },
): string {
  if (source === undefined) return ''
  const verdict = compiled(source, 'key').key({ event: subject.subject })
  if (verdict.ok) return bounded(verdict.value)
  report({ of: { app: workflow.app, workflow: workflow.name }, filter: source, error: verdict.error })
  return ''
}

function bounded(key: string): string {
  return key.length <= KEY_CHARS_MAX ? key : `sha256:${createHash('sha256').update(key).digest('base64url')}`
}
