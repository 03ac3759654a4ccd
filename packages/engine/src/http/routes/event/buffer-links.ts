// The links from the events of bursts and batches to the runs that they became. An event is recorded before its run exists, so
// the run is found when the event is read. Called by events.ts.

import type { Event } from '../../../domain/model/event.ts'
import type { BufferRun, Reads } from '../../../ports/store-reads.ts'

/** Returns the events, with the runs that their bursts and batches have become so far. */
export async function withBufferRuns(reads: Pick<Reads, 'runsOfBuffers'>, events: readonly Event[]): Promise<Event[]> {
  const ids = new Set(events.flatMap(({ triggered }) => triggered.flatMap(entry => openBufferOf(entry) ?? [])))
  if (ids.size === 0) return [...events]
  const runs = new Map((await reads.runsOfBuffers([...ids])).map(run => [keyOf(run), run.id]))
  return events.map(event => ({
    ...event,
    triggered: event.triggered.map(entry => {
      const firstEventId = openBufferOf(entry)
      const runId = firstEventId && runs.get(keyOf({ ...entry, firstEventId }))
      return runId === undefined ? entry : { ...entry, runId }
    }),
  }))
}

/** Returns the event that opened the buffer, unless the entry already has its run. */
function openBufferOf({ runId, firstEventId }: Event['triggered'][number]): string | undefined {
  return runId === undefined ? firstEventId : undefined
}

function keyOf({ firstEventId, app, workflow }: Omit<BufferRun, 'id'>): string {
  return JSON.stringify([firstEventId, app, workflow])
}
