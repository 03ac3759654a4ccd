// Events that the engine itself sends when a run has ended: which run that was, and why nobody sends a copy.

import type { EventRecord } from '@perdure/protocol'

/** Why the event cannot be sent again; undefined if it can. */
export function whyNoCopy({ source }: EventRecord): string | undefined {
  return source === 'engine' ? 'only the engine sends events of this name' : undefined
}

/** The id of the run whose end the event is about; undefined for other events, and where data is hidden or erased. */
export function endedRunId({ source, data }: EventRecord): string | undefined {
  if (source !== 'engine' || typeof data !== 'object' || data === null) return undefined
  const { runId } = data as { runId?: unknown }
  return typeof runId === 'string' ? runId : undefined
}
