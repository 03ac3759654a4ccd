// Stores that the bench opens itself: to fill them before an engine starts, or to measure only them.

import { Client } from 'pg'
import { openPostgresStore } from '../../packages/engine/src/adapters/sql/postgres/store.ts'
import { openSqliteStore } from '../../packages/engine/src/adapters/sql/sqlite/store.ts'
import type { Change } from '../../packages/engine/src/domain/model/change.ts'
import type { Run } from '../../packages/engine/src/domain/model/run.ts'
import type { Store } from '../../packages/engine/src/ports/store.ts'
import type { BenchOptions } from './options.ts'

/** A SQLite file, or a PostgreSQL schema. */
export interface Database {
  file: string
  url?: string | undefined
}

const PER_UNIT = 2000
let schemas = 0

export const databaseName = ({ store }: BenchOptions) => (store === undefined ? 'SQLite' : 'PostgreSQL')

export function openStore({ file, url }: Database): Promise<Store> {
  return url === undefined ? openSqliteStore({ file, log: { error: console.error } }) : openPostgresStore({ url })
}

/** Returns the URL of a fresh schema in the PostgreSQL database, and the function that drops it. */
export async function openSchema(address: string): Promise<{ name: string; url: string; drop(): Promise<void> }> {
  const name = `perdure_bench_${process.pid}_${++schemas}`
  await onServer(address, `CREATE SCHEMA ${name}`)
  const url = new URL(address)
  url.searchParams.set('options', `-c search_path=${name}`)
  return { name, url: url.href, drop: () => onServer(address, `DROP SCHEMA ${name} CASCADE`) }
}

/** Does what autovacuum does within minutes of many writes. Without it no list can use an index-only scan. */
export const vacuum = (url: string) => onServer(url, 'VACUUM (ANALYZE)')

async function onServer(address: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: address })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

/** Commits the changes in order, some thousand per transaction. */
export async function commitAll(store: Store, changes: Iterable<Change>): Promise<void> {
  let unit: Change[] = []
  for (const change of changes) {
    if (unit.push(change) < PER_UNIT) continue
    await store.commit({ guards: [], changes: unit })
    unit = []
  }
  if (unit.length > 0) await store.commit({ guards: [], changes: unit })
}

type Given = Partial<Run> & Pick<Run, 'id' | 'createdAt'>

/** Returns a queued run with these fields. */
export function queuedRun(fields: Given): Run {
  return {
    namespace: 'default',
    workflow: 'workflow-0',
    app: 'app-0',
    status: 'queued',
    triggerKind: 'event',
    trigger: { name: 'order/created' },
    attempt: 1,
    transportTries: 0,
    fence: 1,
    ...fields,
  }
}

/** Returns a run with these fields that succeeded at its creation time. */
export function endedRun(fields: Given): Run {
  const at = fields.createdAt
  const times = { startedAt: at, startedSeq: 2, finishedAt: at, finishedSeq: 9 }
  return queuedRun({ status: 'succeeded', ...times, ...fields })
}
