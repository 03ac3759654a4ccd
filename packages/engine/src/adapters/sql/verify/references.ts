// Checks that referenced rows exist: the runs of an event, the event of a run, the events and deliveries of a step. A row that
// retention may have removed is no violation: ids begin with their time, and `prune_marks` has the time up to which rows were
// removed.

import type { Triggered } from '@perdure/protocol'
import { earliestId, type IdPrefix } from '../../../domain/text/ids.ts'
import type { Row } from '../description/values.ts'
import type { Snapshot, Violation, Violations } from './check.ts'

const PAGE = 200

interface Reference {
  check: string
  subject: string
  /** How the message about the reference begins. */
  reference: string
  id: string
}

interface Target {
  table: 'runs' | 'events' | 'deliveries'
  prefix: IdPrefix
}

const RUNS: Target = { table: 'runs', prefix: 'run' }
const EVENTS: Target = { table: 'events', prefix: 'evt' }
const DELIVERIES: Target = { table: 'deliveries', prefix: 'dlv' }

/** Checks that every run exists that an event claims to have started. */
export async function* eventReferences(snapshot: Snapshot): Violations {
  const missing = await missingIn(snapshot, RUNS)
  for (let position = -1; ; ) {
    const events = (await snapshot.rows(
      `SELECT position, id, triggered FROM events WHERE position > ? ORDER BY position LIMIT ${PAGE}`,
      [position],
    )) as [number, string, string][]
    if (events.length === 0) return
    const references = events.flatMap(([, id, triggered]) =>
      runsOf(triggered).map(runId => ({
        check: 'event.runs',
        subject: id,
        reference: `started run ${runId}`,
        id: runId,
      })),
    )
    yield* missing(references)
    position = (events.at(-1) as [number, string, string])[0]
  }
}

/** Checks that the event of a run, and the events and deliveries of its steps, exist, over a range of run ids. */
export async function* runReferences(snapshot: Snapshot, [from, to]: readonly [string, string]): Violations {
  const triggered = await snapshot.rows(
    'SELECT id, event_id FROM runs WHERE id > ? AND id <= ? AND event_id IS NOT NULL',
    [from, to],
  )
  yield* (await missingIn(snapshot, EVENTS))(referencesOf(triggered, 'run.event', 'was started by event'))
  const emitted = await snapshot.rows(
    'SELECT run_id, emitted_event_id FROM steps WHERE run_id > ? AND run_id <= ? AND emitted_event_id IS NOT NULL',
    [from, to],
  )
  yield* (await missingIn(snapshot, EVENTS))(referencesOf(emitted, 'step.event', 'emitted event'))
  const sent = await snapshot.rows(
    'SELECT run_id, delivery_id FROM steps WHERE run_id > ? AND run_id <= ? AND delivery_id IS NOT NULL',
    [from, to],
  )
  yield* (await missingIn(snapshot, DELIVERIES))(referencesOf(sent, 'step.delivery', 'sent delivery'))
}

function referencesOf(rows: Row[], check: string, verb: string): Reference[] {
  return (rows as [string, string][]).map(([subject, id]) => ({
    check,
    subject,
    reference: `${verb} ${id}`,
    id,
  }))
}

function runsOf(triggered: string): string[] {
  try {
    return (JSON.parse(triggered) as Triggered[]).flatMap(({ runId }) => runId ?? [])
  } catch {
    // `event.readable` reports it.
    return []
  }
}

async function missingIn(
  snapshot: Snapshot,
  { table, prefix }: Target,
): Promise<(references: readonly Reference[]) => AsyncGenerator<Violation>> {
  const [mark] = await snapshot.rows('SELECT up_to FROM prune_marks WHERE what = ?', [table])
  const youngest = mark ? earliestId(prefix, mark[0] as number) : ''
  return async function* (references) {
    const wanted = references.filter(({ id }) => id >= youngest)
    for (let at = 0; at < wanted.length; at += PAGE) {
      const some = wanted.slice(at, at + PAGE)
      const ids = Array.from({ length: PAGE }, (_, i) => (some[Math.min(i, some.length - 1)] as Reference).id)
      const holes = ids.map(() => '?').join(', ')
      const rows = await snapshot.rows(`SELECT id FROM ${table} WHERE id IN (${holes})`, ids)
      if (table === 'runs')
        rows.push(...(await snapshot.rows(`SELECT id FROM erased_runs WHERE id IN (${holes})`, ids)))
      const found = new Set(rows.map(([id]) => id))
      for (const { check, subject, reference, id } of some) {
        if (!found.has(id)) yield { check, subject, message: `${reference}, which does not exist` }
      }
    }
  }
}
