// Checks of the contents of rows. Every row must be readable, since one unreadable row can stop every start; ids and times of
// flow-control rows must match their state; and registered workflows must have their schedules.

import { cutText } from '@perdure/protocol'
import { cronsOf } from '../../../domain/arrival/schedules.ts'
import { type Attributes, attributeTexts } from '../../../domain/model/attributes.ts'
import { type FlowPolicy, type FlowRow, flowRowId } from '../../../domain/model/flow-row.ts'
import type { Workflow } from '../../../domain/model/workflow.ts'
import type { Row } from '../description/values.ts'
import { EVENTS } from '../tables/events.ts'
import { FLOW_ROWS } from '../tables/flow-rows.ts'
import { WORKFLOWS } from '../tables/registry.ts'
import { HOLDS_SLOT, RUNS, SLOT_COLUMNS } from '../tables/runs.ts'
import type { Check, Snapshot, Violation, Violations } from './check.ts'

const PAGE = 200

/** Checks that the runs and steps of a range of run ids are readable. */
export async function* runContents(snapshot: Snapshot, [from, to]: readonly [string, string]): Violations {
  const runs = await snapshot.rows(
    `SELECT ${RUNS.selectWithout('input', 'result')} FROM runs WHERE id > ? AND id <= ?`,
    [from, to],
  )
  yield* unreadable('run.readable', runs, RUNS.fromRow)
  const steps = await snapshot.rows(
    'SELECT run_id, idx, error FROM steps WHERE run_id > ? AND run_id <= ? AND error IS NOT NULL',
    [from, to],
  )
  yield* unreadable('step.readable', steps, row => JSON.parse(row[2] as string))
}

/** Checks that the rows by which lists find a run by its attributes match those attributes exactly, over a range of run ids. */
export async function* attributeContents(snapshot: Snapshot, [from, to]: readonly [string, string]): Violations {
  const runs = await snapshot.rows(
    'SELECT id, namespace, attributes FROM runs WHERE id > ? AND id <= ? AND attributes IS NOT NULL',
    [from, to],
  )
  // A row with the wrong app, workflow or end hides the run as much as a missing row.
  const rows = await snapshot.rows(
    `SELECT a.run_id, a.namespace, a.attribute FROM run_attributes AS a LEFT JOIN runs ON runs.id = a.run_id
      WHERE a.run_id > ? AND a.run_id <= ? AND (runs.id IS NULL
        OR (a.app = runs.app AND a.workflow = runs.workflow AND (a.ended = 'live' OR a.ended = runs.status)))`,
    [from, to],
  )
  if (runs.length === 0 && rows.length === 0) return
  const found = new Map<string, Set<string>>()
  for (const [id, namespace, text] of rows as [string, string, string][]) {
    const texts = found.get(id) ?? new Set()
    found.set(id, texts.add(`${namespace}\n${text}`))
  }
  for (const [id, namespace, json] of runs as [string, string, string][]) {
    const texts = found.get(id) ?? new Set()
    found.delete(id)
    const wanted = wantedTexts(json)
    if (wanted === undefined) {
      yield { check: 'run.attributes', subject: id, message: 'has attributes that cannot be read' }
      continue
    }
    const missing = wanted.find(text => !texts.has(`${namespace}\n${text}`))
    const message = missing
      ? `has the attribute ${missing}, but lists do not find it by this attribute and its type`
      : STRAY_ATTRIBUTES
    if (missing || texts.size > wanted.length) yield { check: 'run.attributes', subject: id, message }
  }
  for (const id of found.keys()) yield { check: 'run.attributes', subject: id, message: STRAY_ATTRIBUTES }
}

/** The texts by which lists find the run; undefined for attributes that cannot be read. */
function wantedTexts(json: string): string[] | undefined {
  try {
    return attributeTexts(JSON.parse(json) as Attributes)
  } catch {
    return undefined
  }
}

const STRAY_ATTRIBUTES = 'is found by attributes that it does not have'

export async function* eventContents(snapshot: Snapshot): Violations {
  const at = EVENTS.columns.indexOf('triggered')
  for (let position = -1; ; ) {
    const rows = await snapshot.rows(
      `SELECT ${EVENTS.selectWithout('data')}, position
       FROM events WHERE position > ? ORDER BY position LIMIT ${PAGE}`,
      [position],
    )
    if (rows.length === 0) return
    yield* unreadable('event.readable', rows, row => {
      if (!Array.isArray(JSON.parse(row[at] as string))) throw new Error('its list of triggered workflows is missing')
    })
    position = (rows.at(-1) as Row).at(-1) as number
  }
}

/** Checks that no slot is held by more runs than the highest limit among its holders. */
export async function* slotContents(snapshot: Snapshot): Violations {
  const held = new Map<string, { count: number; limit: number }>()
  for (const slot of SLOT_COLUMNS) {
    const rows = await snapshot.rows(`SELECT ${slot}, holds FROM runs WHERE ${HOLDS_SLOT[slot]}`)
    for (const [id, holds] of rows as [string, string][]) {
      const limit = limitOf(holds, id)
      const known = held.get(id) ?? { count: 0, limit: 0 }
      held.set(id, { count: known.count + 1, limit: Math.max(known.limit, limit) })
    }
  }
  for (const [id, { count, limit }] of held) {
    if (count > limit)
      yield {
        check: 'slot.limit',
        subject: id,
        message: `is held by ${count} runs, and its limit is ${limit}`,
      }
  }
}

/** Checks that every flow-control row is readable and well formed. */
export async function* flowContents(snapshot: Snapshot): Violations {
  for (let last = ''; ; ) {
    const rows = await snapshot.rows(
      `SELECT ${FLOW_ROWS.select} FROM flow_rows WHERE id > ? ORDER BY id LIMIT ${PAGE}`,
      [last],
    )
    const [end] = rows.at(-1) ?? []
    if (end === undefined) return
    yield* unreadable('flow.readable', rows, row => wellFormed(FLOW_ROWS.fromRow(row)))
    last = end as string
  }
}

export const SCHEDULED_CHECKS: readonly Check[] = [
  {
    name: 'scheduled.row',
    sql: 'SELECT row_id, term FROM scheduled_terms AS t WHERE NOT EXISTS (SELECT 1 FROM flow_rows WHERE id = t.row_id)',
    message: ([, term]) => `has the filter term "${term}", but the scheduled event does not exist`,
  },
]

/** Checks that every cron of a registered workflow has a schedule with a next time. */
export async function* scheduleContents(snapshot: Snapshot): Violations {
  const rows = await snapshot.rows(`SELECT ${WORKFLOWS.select} FROM workflows`)
  for (const row of rows) {
    let workflow: Workflow
    let crons: Set<string>
    try {
      workflow = WORKFLOWS.fromRow(row)
      crons = cronsOf(workflow)
    } catch (error) {
      yield { check: 'workflow.readable', subject: String(row[2]), message: reasonOf(error) }
      continue
    }
    const { namespace, app, name } = workflow
    for (const cron of crons) {
      const id = flowRowId({ namespace, app, workflow: name, policy: 'cron', key: cron })
      const [schedule] = await snapshot.rows('SELECT available_at, state FROM flow_rows WHERE id = ?', [id])
      if (schedule && (schedule[0] !== null || isPaused(String(schedule[1])))) continue
      const message = `of app ${app} in namespace ${namespace} has the cron "${cron}", which never fires`
      yield { check: 'workflow.schedule', subject: name, message }
    }
  }
}

const WANTS: Record<FlowPolicy, (row: FlowRow, state: object) => boolean> = {
  cron: (row, state) => (row.availableAt !== undefined) !== 'paused' in state && 'scheduledAt' in state,
  debounce: isBuffer,
  batch: isBuffer,
  idempotency: row => row.expiresAt !== undefined,
  event: (row, state) => row.availableAt !== undefined && row.dueAt !== undefined && 'name' in state,
  ended: (row, state) => row.availableAt !== undefined && 'name' in state && 'engine' in state,
  schedule: (row, state) => (row.availableAt !== undefined) === 'nextAt' in state && 'eventName' in state,
  bulk: (row, state) =>
    row.dueAt !== undefined && 'status' in state && (state.status === 'running') === (row.availableAt !== undefined),
  bulkInput: (_row, state) => 'ids' in state || 'input' in state,
  callbacks: (_row, state) => Object.keys(state).length > 0,
  limit: () => true,
}

function isBuffer(row: FlowRow, state: object): boolean {
  return row.availableAt !== undefined && row.dueAt !== undefined && 'head' in state
}

function isPaused(state: string): boolean {
  try {
    return (JSON.parse(state) as { paused?: true }).paused === true
  } catch {
    return false
  }
}

function wellFormed(row: FlowRow): void {
  const wants = WANTS[row.policy]
  if (!wants) throw new Error(`its policy ${row.policy} is unknown`)
  const state = JSON.parse(row.state) as object
  const isKeyless = row.policy === 'idempotency' && row.key === ''
  if (!isKeyless && row.id !== flowRowId(row))
    throw new Error('its id does not match its namespace, app, workflow, policy and key')
  if (!wants(row, state)) throw new Error(`a ${row.policy} of ${row.workflow} without its time or its state`)
}

function limitOf(holds: string, slotId: string): number {
  try {
    const { slots = [] } = JSON.parse(holds) as { slots?: { id: string; limit: number }[] }
    return slots.find(({ id }) => id === slotId)?.limit ?? 0
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

export function* unreadable(check: string, rows: Row[], read: (row: Row) => unknown): Generator<Violation> {
  for (const row of rows) {
    try {
      read(row)
    } catch (error) {
      yield { check, subject: String(row[0]), message: reasonOf(error) }
    }
  }
}

/** Returns the reason in one line: the message may contain stored text with line breaks. */
function reasonOf(error: unknown): string {
  return cutText(`cannot be read: ${(error as Error).message}`.replace(/\s+/g, ' '), 200)
}
