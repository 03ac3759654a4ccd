// Events that the engine sends when a run has ended: which run that was, and why nobody can send a copy.

import type { EventRecord } from '@perdure/protocol'

/** Returns the reason why the event cannot be sent again; undefined if it can. */
export function whyNoCopy({ source }: EventRecord): string | undefined {
  return source === 'engine' ? 'only the engine sends events of this name' : undefined
}

/** Returns the id of the run whose end caused the event; undefined for other events, and if the data is hidden or erased. */
export function endedRunId({ source, data }: EventRecord): string | undefined {
  if (source !== 'engine' || typeof data !== 'object' || data === null) return undefined
  const { runId } = data as { runId?: unknown }
  return typeof runId === 'string' ? runId : undefined
}
