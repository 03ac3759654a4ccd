// Reads the whole store at the end of a simulation, with the reads that the HTTP interface uses, in pages of random
// size.

import type { Delivery, DeliveryAttempt } from '../../../packages/engine/src/domain/model/delivery.ts'
import type { Event } from '../../../packages/engine/src/domain/model/event.ts'
import type { LogLine } from '../../../packages/engine/src/domain/model/log-line.ts'
import type { Store } from '../../../packages/engine/src/ports/store.ts'
import type { Reads, RunView } from '../../../packages/engine/src/ports/store-reads.ts'
import type { Rng } from '../core/random.ts'
import { ensure } from '../core/violation.ts'
import type { Post } from '../ports/sim-sender.ts'
import type { Journal } from '../workload/journal.ts'
import type { WorkflowSpec } from '../workload/program.ts'
import type { RunnerRecord } from '../workload/runner-record.ts'
import type { RunRecord } from './record.ts'

/** A run with its row, its steps and its frames. */
export type JudgedRun = RunRecord & { run: RunView }

export interface Snapshot {
  /** Every run, in the order of creation. */
  records: ReadonlyMap<string, RunRecord>
  /** Every run of every namespace, with its steps and frames. */
  runs: ReadonlyMap<string, JudgedRun>
  logs: ReadonlyMap<string, readonly LogLine[]>
  events: ReadonlyMap<string, Event>
  deliveries: ReadonlyMap<string, { delivery: Delivery; attempts: DeliveryAttempt[] }>
  specs: readonly WorkflowSpec[]
  runnerRecord: RunnerRecord
  journal: Journal
  posts: readonly Post[]
  /** Registered runners, as `namespace app id`. */
  runnerIds: ReadonlySet<string>
}

type Rows = Pick<Snapshot, 'runs' | 'logs' | 'events' | 'deliveries'>

export async function takeSnapshot(options: {
  store: Store
  namespaces: readonly string[]
  records: ReadonlyMap<string, RunRecord>
  rng: Rng
}): Promise<Rows> {
  const { store, namespaces, records, rng } = options
  const runs = new Map<string, JudgedRun>()
  const logs = new Map<string, LogLine[]>()
  const events = new Map<string, Event>()
  const deliveries = new Map<string, { delivery: Delivery; attempts: DeliveryAttempt[] }>()
  for (const namespace of namespaces) {
    const reads = store.in(namespace)
    for (const id of await allRunIds(reads, rng)) {
      const record = records.get(id)
      ensure(
        record?.run && record.namespace === namespace,
        'only runs that were committed are listed',
        () => `${namespace}: ${id}`,
        [id],
      )
      runs.set(id, record as JudgedRun)
      logs.set(id, await allLogs(reads, id, rng))
      for (const { deliveryId } of record.steps) {
        const found = deliveryId === undefined ? undefined : await reads.delivery(deliveryId)
        if (found) deliveries.set(found.delivery.id, found)
      }
    }
    for (const event of await allEvents(reads, rng)) events.set(event.id, event)
  }
  for (const id of records.keys()) ensure(runs.has(id), 'every run is listed', () => id, [id])
  return { runs, logs, events, deliveries }
}

async function allRunIds(reads: Reads, rng: Rng): Promise<string[]> {
  const ids: string[] = []
  let after: { createdAt: number; id: string } | undefined
  for (;;) {
    const limit = rng.int(1, 60)
    const page = await reads.runs({ limit, ...(after ? { after } : {}) })
    ids.push(...page.map(({ id }) => id))
    after = page.at(-1)
    if (page.length < limit) break
  }
  ensure(new Set(ids).size === ids.length, 'paging meets each run once', () => ids.join(' '))
  return ids
}

async function allEvents(reads: Reads, rng: Rng): Promise<Event[]> {
  const events: Event[] = []
  let before: number | undefined
  for (;;) {
    const limit = rng.int(1, 60)
    const page = await reads.events({ limit, ...(before === undefined ? {} : { before }) })
    events.push(...page.map(({ event }) => event))
    before = page.at(-1)?.position
    if (page.length < limit) break
  }
  ensure(new Set(events.map(({ id }) => id)).size === events.length, 'paging meets each event once', () => '')
  return events
}

async function allLogs(reads: Reads, runId: string, rng: Rng): Promise<LogLine[]> {
  const lines: LogLine[] = []
  for (;;) {
    const limit = rng.int(1, 20)
    const page = await reads.logs(runId, { from: lines.at(-1)?.seq ?? 0, limit })
    lines.push(...page)
    if (page.length < limit) return lines
  }
}
