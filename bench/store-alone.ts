// The store without an engine: writes the five units of a W1 run, many runs at a time, and prints what they cost.
//   node --conditions=perdure-source --import tsx bench/store-alone.ts [postgres://...] [--stores 2] [--in-flight 300]
// Without a URL it uses a SQLite file; on PostgreSQL its own schema, and the server must run on this machine.

import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { systemClock } from '../packages/engine/src/adapters/clock/system.ts'
import type { Event } from '../packages/engine/src/domain/model/event.ts'
import type { Run } from '../packages/engine/src/domain/model/run.ts'
import type { Step } from '../packages/engine/src/domain/model/step.ts'
import { IdSource } from '../packages/engine/src/domain/text/ids.ts'
import type { Store } from '../packages/engine/src/ports/store.ts'
import { Loop } from './load/loop.ts'
import { msOf } from './measure/latency.ts'
import { cpuSeconds } from './measure/proc.ts'
import { openSchema, openStore, queuedRun } from './rig/store.ts'

const STEPS = 3
const ids = new IdSource(Math.random)

/** The database, and the measurements that depend on its kind. */
interface Place {
  open(): Promise<Store>
  /** Processes that work for the stores, in addition to this one. */
  servers(): Promise<number[]>
  /** Bytes on disk, and bytes of log written so far. */
  bytes(): Promise<{ kept: number; logged: number }>
  close(): Promise<void>
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      stores: { type: 'string', default: '1' },
      'in-flight': { type: 'string', default: '300' },
      seconds: { type: 'string', default: '5' },
    },
  })
  const place = positionals[0] === undefined ? sqlite() : await postgres(positionals[0])
  const stores: Store[] = []
  try {
    for (let i = 0; i < Number(values.stores); i++) stores.push(await place.open())
    // The first use opens sessions and prepares statements.
    for (const store of stores) await writeRun(store)
    console.log(await measure(place, stores, Number(values['in-flight']), Number(values.seconds)))
  } finally {
    for (const store of stores) await store.close()
    await place.close()
  }
}

async function measure(place: Place, stores: Store[], inFlight: number, seconds: number) {
  const servers = await place.servers()
  const serverSeconds = () => servers.reduce((sum, pid) => sum + (cpuSeconds(pid) ?? 0), 0)
  const [before, cpu, busy] = [await place.bytes(), process.cpuUsage(), serverSeconds()]
  let next = 0
  const loop = new Loop(inFlight, () => msOf(() => writeRun(stores[next++ % stores.length] as Store)))
  const { runs, runsPerS } = await loop.measure(seconds)
  const [used, after] = [process.cpuUsage(cpu), await place.bytes()]
  const usedByServers = serverSeconds() - busy
  await loop.stop()
  return {
    'runs/s': Math.round(runsPerS),
    'us/run of this process': Math.round((used.user + used.system) / runs),
    'us/run of the server': Math.round((usedByServers * 1e6) / runs),
    'bytes/run kept': Math.round((after.kept - before.kept) / runs),
    'bytes/run logged': Math.round((after.logged - before.logged) / runs),
  }
}

/** Writes one run: created with its event, three steps, and its end, each durable before the next. */
async function writeRun(store: Store): Promise<void> {
  const now = systemClock.now()
  const event: Event = {
    namespace: 'default',
    id: ids.next('evt', now),
    name: 'bench.w1',
    source: 'api',
    data: '{"n":1}',
    receivedAt: now,
    woke: 0,
    triggered: [],
  }
  const run = queuedRun({
    id: ids.next('run', now),
    createdAt: now,
    status: 'running',
    eventName: event.name,
    eventId: event.id,
    trigger: { id: event.id, name: event.name },
    input: '{"n":1}',
    startedAt: now,
    startedSeq: 2,
    fence: 0,
    leaseOwner: 'bench',
    availableAt: now + 15_000,
  })
  const guards = [{ type: 'run' as const, runId: run.id, fence: run.fence }]
  await store.commit({
    guards: [],
    changes: [
      { type: 'event.recorded', event },
      { type: 'run.created', run },
    ],
  })
  for (let i = 0; i < STEPS; i++)
    await store.commit({ guards, changes: [{ type: 'step.recorded', step: aStep(run, i) }] })
  const { leaseOwner: _, availableAt: __, ...rest } = run
  const ended: Run = { ...rest, status: 'succeeded', finishedAt: now, finishedSeq: 10, result: '{"ok":true}' }
  await store.commit({ guards, changes: [{ type: 'run.moved', run: ended, frames: [] }] })
}

function aStep(run: Run, index: number): Step {
  return {
    runId: run.id,
    id: `c2a1f0e4${index}`.padEnd(40, '7'),
    name: `step ${index}`,
    op: 'StepRun',
    index,
    status: 'succeeded',
    attempt: 1,
    seq: 3 + index,
    startedAt: run.createdAt,
    finishedAt: run.createdAt,
    data: '{"ok":true}',
  }
}

function sqlite(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-bench-'))
  const file = join(folder, 'engine.db')
  return {
    open: () => openStore({ file }),
    servers: async () => [],
    bytes: async () => ({ kept: statSync(file).size, logged: 0 }),
    close: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function postgres(address: string): Promise<Place> {
  const client = new Client({ connectionString: address })
  await client.connect()
  const schema = await openSchema(address)
  const sessions = async () => {
    const { rows } = await client.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE application_name = 'perdure'`,
    )
    return rows.map(({ pid }) => pid)
  }
  const others = new Set(await sessions())
  return {
    open: () => openStore({ file: '', url: schema.url }),
    servers: async () => (await sessions()).filter(pid => !others.has(pid)),
    async bytes() {
      const { rows } = await client.query<{ kept: string; logged: string }>(
        `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS logged,
          (SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = $1::regnamespace
            AND relkind = 'r') AS kept`,
        [schema.name],
      )
      return { kept: Number(rows[0]?.kept), logged: Number(rows[0]?.logged) }
    },
    async close() {
      await schema.drop()
      await client.end()
    },
  }
}

await main()
