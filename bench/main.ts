// `npm run bench`: runs the workloads one after the other, prints a table, writes JSON. A lost or failed run makes it
// exit with code 1, and a budget of the console that is exceeded; other figures never do.

import { writeFileSync } from 'node:fs'
import { describeMachine, type Machine } from './report/machine.ts'
import { formatNumber, printResult, type Result } from './report/report.ts'
import { type BenchOptions, readOptions, USAGE } from './rig/options.ts'
import { bulk } from './workloads/bulk.ts'
import { claims } from './workloads/claims.ts'
import { f1 } from './workloads/concurrency-keys.ts'
import { consoleBudgets } from './workloads/console/console.ts'
import { d1, d2 } from './workloads/deliveries.ts'
import { events } from './workloads/events.ts'
import { expressions } from './workloads/expressions.ts'
import { idle } from './workloads/idle.ts'
import { idleStreams } from './workloads/idle-streams.ts'
import { isolation } from './workloads/isolation.ts'
import { lists } from './workloads/lists.ts'
import { readers } from './workloads/readers.ts'
import { reads } from './workloads/reads.ts'
import { replay } from './workloads/replay.ts'
import { backlog } from './workloads/runs/backlog.ts'
import { growth } from './workloads/runs/growth.ts'
import { long } from './workloads/runs/long.ts'
import { payloads } from './workloads/runs/payloads.ts'
import { results } from './workloads/runs/results.ts'
import { retention } from './workloads/runs/retention.ts'
import { w1 } from './workloads/runs/w1-sequential-steps.ts'
import { w2 } from './workloads/runs/w2-single-run.ts'
import { w3 } from './workloads/runs/w3-parallel-steps.ts'
import { w4 } from './workloads/runs/w4-sleeping-runs.ts'
import { schedules } from './workloads/schedules.ts'

/** The workloads by id. A new workload is a file of its own and an entry here. */
const WORKLOADS: Readonly<Record<string, (options: BenchOptions) => Promise<Result[]>>> = {
  W1: w1,
  W2: w2,
  W3: w3,
  W4: w4,
  RESULTS: results,
  LONG: long,
  PAYLOADS: payloads,
  BACKLOG: backlog,
  RETENTION: retention,
  REPLAY: replay,
  EVENTS: events,
  CEL: expressions,
  D1: d1,
  D2: d2,
  F1: f1,
  GROWTH: growth,
  LISTS: lists,
  READS: reads,
  STREAMS: idleStreams,
  READERS: readers,
  SCHEDULES: schedules,
  BULK: bulk,
  CLAIMS: claims,
  IDLE: idle,
  ISOLATION: isolation,
  CONSOLE: consoleBudgets,
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    console.log(USAGE)
    return 0
  }
  const options = readOptions(args)
  const ids = options.only.length > 0 ? options.only : Object.keys(WORKLOADS)
  const unknown = ids.find(id => !(id in WORKLOADS))
  if (unknown !== undefined) throw new Error(`there is no workload ${unknown}`)
  const machine = describeMachine(options.dir)
  printMachine(machine)
  const measured: Result[] = []
  for (const id of ids) {
    for (const result of await (WORKLOADS[id] as (typeof WORKLOADS)[string])(options)) {
      printResult(result)
      measured.push(result)
    }
  }
  if (options.json !== undefined) {
    const report = { takenAt: new Date().toISOString(), machine, options, results: measured }
    writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
  }
  return measured.some(({ problems }) => problems.length > 0) ? 1 : 0
}

function printMachine({ cpus, model, node, loadAverage, fileSystem, fsyncMs }: Machine): void {
  console.log(`${cpus} x ${model}, Node ${node}, load average ${formatNumber(loadAverage)}`)
  const sync = `p50 ${formatNumber(fsyncMs.p50)}, p99 ${formatNumber(fsyncMs.p99)} ms`
  console.log(`databases on ${fileSystem}; a 4 KiB append with fdatasync takes ${sync}`)
}

main(process.argv.slice(2)).then(
  code => process.exit(code),
  error => {
    console.error(`bench: ${(error as Error).stack}`)
    process.exit(1)
  },
)
