// Texts for the effects of an event: at each workflow, and in short. Called by the commands of events and steps, and the live
// tail.

import type { EventRecord, Triggered } from '@perdure/protocol'

/** The run that the event started or joined, else why it started none. */
export function startText({ runId, liveRunId, ...flags }: Omit<Triggered, 'app' | 'workflow'>): string {
  const held = Object.keys(flags).filter(flag => flags[flag as keyof typeof flags])
  const why = held.join(', ') || 'not started'
  return runId ?? (liveRunId === undefined ? why : `${why}: ${liveRunId} is live`)
}

/** The effect of an event, in short. */
export function effectText({ triggered, woke }: Pick<EventRecord, 'triggered' | 'woke'>): string {
  const started = triggered.filter(({ runId }) => runId !== undefined).length
  const skipped = triggered.filter(one => one.skipped).length
  const parts = [started > 0 && `started ${started}`, skipped > 0 && `skipped ${skipped}`, woke > 0 && `woke ${woke}`]
  return parts.filter(Boolean).join(', ') || 'no effect'
}
