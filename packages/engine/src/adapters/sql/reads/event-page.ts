// A page of the event log. A thousand events can be a gigabyte: the page is read in slices, and ends where it gets large.

import { EVENT_PAGE_CHARS_MAX, type EventQuery, type PositionedEvent } from '../../../ports/store-reads.ts'
import type { Query, Row } from '../description/values.ts'
import { positionedEvent } from '../tables/events.ts'
import { eventSizesQuery, eventsQuery } from './event-queries.ts'

/** A slice ends with the event that brings its data over this many bytes. */
const SLICE_BYTES_MAX = 4 * 1024 * 1024

export async function eventPage(
  read: (query: Query) => Promise<Row[]>,
  namespace: string,
  query: EventQuery,
): Promise<PositionedEvent[]> {
  const sizes = (await read(eventSizesQuery(namespace, query))) as [bytes: number][]
  const events: PositionedEvent[] = []
  let chars = 0
  for (const limit of slices(sizes.map(([bytes]) => bytes))) {
    const before = events.at(-1)?.position ?? query.before
    for (const row of await read(eventsQuery(namespace, { ...query, before, limit }))) {
      const found = positionedEvent(row)
      events.push(found)
      chars += found.event.data?.length ?? 0
      if (chars > EVENT_PAGE_CHARS_MAX) return events
    }
  }
  return events
}

/** How many events each slice has. */
function* slices(sizes: readonly number[]): Generator<number> {
  let count = 0
  let bytes = 0
  for (const size of sizes) {
    count++
    bytes += size
    if (bytes <= SLICE_BYTES_MAX) continue
    yield count
    count = 0
    bytes = 0
  }
  if (count > 0) yield count
}
