// A page of the event log. A thousand events can be a gigabyte: the page is read in slices, and ends where it gets large.

import type { RedrivableEvent, RedriveQuery } from '../../../ports/redrive-reads.ts'
import {
  EVENT_PAGE_CHARS_MAX,
  type EventNamesQuery,
  type EventQuery,
  type NamedEvents,
  type PositionedEvent,
} from '../../../ports/store-reads.ts'
import type { Query, Row } from '../description/values.ts'
import { positionedEvent } from '../tables/events.ts'
import {
  eventNamesQuery,
  eventSizesQuery,
  eventsQuery,
  namedEvents,
  type PositionedQuery,
  positionQuery,
  positionsQuery,
  redrivableEvent,
  redrivableQuery,
  wellBefore,
  wellBehind,
} from './event-queries.ts'

/** A slice ends with the event that takes its data over this many bytes. */
const SLICE_BYTES_MAX = 4 * 1024 * 1024

type ReadRows = (query: Query) => Promise<Row[]>

export async function eventPage(read: ReadRows, namespace: string, query: EventQuery): Promise<PositionedEvent[]> {
  const bounded = await withNames(read, namespace, await withPositions(read, namespace, query))
  if (bounded.names?.length === 0) return []
  const sizes = (await read(eventSizesQuery(namespace, bounded))) as [bytes: number][]
  const events: PositionedEvent[] = []
  let chars = 0
  for (const limit of slices(sizes.map(([bytes]) => bytes))) {
    const before = events.at(-1)?.position ?? bounded.before
    for (const row of await read(eventsQuery(namespace, { ...bounded, before, limit }))) {
      const found = positionedEvent(row)
      events.push(found)
      chars += found.event.data?.length ?? 0
      if (chars > EVENT_PAGE_CHARS_MAX) return events
    }
  }
  return events
}

/** The names in the log, each with its newest event, and with a count if a time is given. */
export async function eventNamesPage(
  read: ReadRows,
  namespace: string,
  query: EventNamesQuery,
): Promise<NamedEvents[]> {
  const { since, limit } = query
  const { from = 0 } = await withPositions(read, namespace, { since, limit })
  return (await read(eventNamesQuery(namespace, { ...query, from }))).map(namedEvents)
}

/** If more names than this have the prefix, the log is searched. */
const NAMES_MAX = 20

async function withNames(read: ReadRows, namespace: string, query: PositionedQuery): Promise<PositionedQuery> {
  const { prefix, name } = query
  if (prefix === undefined || name !== undefined) return query
  const names = (await read(eventNamesQuery(namespace, { prefix, limit: NAMES_MAX + 1 }))).map(row => row[0] as string)
  return names.length > NAMES_MAX ? query : { ...query, names }
}

/** Adds to the query the positions between which its times fall, so that no page looks at the rest of the log. */
async function withPositions(read: ReadRows, namespace: string, query: EventQuery): Promise<PositionedQuery> {
  const { since, until, before } = query
  if (since === undefined && until === undefined) return query
  const [[first, last] = []] = (await read(positionsQuery(namespace))) as [number | null, number | null][]
  if (first == null || last == null) return query
  const log = { read, namespace, first, last }
  const from = since === undefined ? undefined : await firstFrom(log, wellBefore(since))
  const end = until === undefined ? undefined : await firstFrom(log, wellBehind(until))
  return { ...query, from, before: end === undefined ? before : Math.min(end, before ?? end) }
}

interface Log {
  read: ReadRows
  namespace: string
  first: number
  last: number
}

/**
 * Finds by bisection the first position whose event arrived at the time or later; the position after the last one if none did.
 */
async function firstFrom({ read, namespace, first, last }: Log, time: number): Promise<number> {
  let [low, high] = [first, last + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [[position, receivedAt] = []] = (await read(positionQuery(namespace, middle))) as [number, number][]
    if (position === undefined || receivedAt === undefined || receivedAt >= time) high = middle
    else low = position + 1
  }
  return low
}

/** The number of events in each slice. */
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

/** The events after the position, oldest first. */
export async function redrivablePage(
  read: ReadRows,
  namespace: string,
  query: RedriveQuery & { after: number; limit: number },
): Promise<RedrivableEvent[]> {
  return (await read(redrivableQuery(namespace, query))).map(redrivableEvent)
}
