// Why a run is where it is, in some five words, for one cell of the list.

import type { Item } from '../../data/queries.ts'
import { durationText } from '../../ui/duration.ts'

type Run = Item<'listRuns'>

/** The current step of a run, or what it waits for. */
export function whyShort({ waitingFor, currentStepName, error, status, position }: Run, nowMs: number): string {
  if (status === 'failed') return error?.message ?? ''
  if (!waitingFor) return status === 'succeeded' || status === 'cancelled' ? '' : (currentStepName ?? '')
  const { kind, until, eventName, childRunId, key, stepName } = waitingFor
  const left = until === undefined ? undefined : durationText(Math.max(0, Date.parse(until) - nowMs))
  // A limit without a key has the empty one.
  const of = key ? ` ${key}` : ''
  const before =
    position === undefined || status !== 'queued' ? '' : position === 0 ? ', next in line' : `, ${position} before it`
  const texts: Record<string, string> = {
    sleep: left === undefined ? 'sleeps' : `sleeps, ${left} left`,
    event: `event ${eventName ?? stepName ?? ''}`,
    child: `child ${childRunId ?? stepName ?? ''}`,
    retry: left === undefined ? 'retries' : `retries in ${left}`,
    runner: 'no runner is free',
    concurrency: `slot${of}${before}`,
    throttle: `throttle${of}${before}`,
    'workflow-paused': 'its workflow is paused',
    failure: waitingFor.error ?? 'paused by a failure',
  }
  return texts[kind] ?? kind
}
