// `npm run bench`: runs the workloads one after the other, prints a table, and writes JSON. Exits with code 1 if a run is lost or
// fails, or if a budget of the console is exceeded; other figures never cause that.

import { writeFileSync } from 'node:fs'
import { describeMachine, type Machine } from './report/machine.ts'
import { formatNumber, type Outcome, printResult, type Result } from './report/report.ts'
import { type BenchOptions, readOptions, USAGE } from './rig/options.ts'
import { appends } from './workloads/appends.ts'
import { backlog, growth } from './workloads/beside.ts'
import { consoleBudgets } from './workloads/console/console.ts'
import { flood } from './workloads/flood.ts'
import { isolation } from './workloads/isolation.ts'
import { lists } from './workloads/lists.ts'
import { runsOf } from './workloads/runs.ts'
import { events, idleStreams, readers } from './workloads/streams.ts'

/** The workloads by id. */
const WORKLOADS: Readonly<Record<string, (options: BenchOptions) => Promise<Outcome | Outcome[]>>> = {
  W1: options => runsOf('W1', options),
  W2: options => runsOf('W2', options),
  W3: options => runsOf('W3', options),
  RESULTS: options => runsOf('RESULTS', options),
  LONG: options => runsOf('LONG', options),
  PAYLOADS: options => runsOf('PAYLOADS', options),
  BACKLOG: backlog,
  EVENTS: events,
  FLOOD: flood,
  GROWTH: growth,
  LISTS: lists,
  STREAMS: idleStreams,
  READERS: readers,
  APPENDS: appends,
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
    const outcomes = await (WORKLOADS[id] as (typeof WORKLOADS)[string])(options)
    for (const outcome of [outcomes].flat()) {
      const result = { workload: id, notes: [], problems: [], profiles: [], ...outcome }
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
