// The command line of the bench.

import { tmpdir } from 'node:os'

/** How engine and runner talk: a POST per invoke, a socket, or a socket with checkpoints of the steps. */
const OVERS = ['http', 'connect', 'checkpoints'] as const
export type Over = (typeof OVERS)[number]

/** The bench's own runner, or the SDK's. */
const RUNNERS = ['bare', 'sdk'] as const
export type RunnerKind = (typeof RUNNERS)[number]

export interface BenchOptions {
  /** Ids of the workloads to run; all when empty. */
  only: string[]
  /** Length of each measured window. */
  seconds: number
  /** Numbers of runs in flight of W1, one measurement each. */
  inFlight: number[]
  /** Transports for which W1, W2, RESULTS, W3 and LONG are measured, in sequence. */
  over: Over[]
  /** Runners with which W1, W2, RESULTS and LONG are measured, in sequence. */
  runners: RunnerKind[]
  /** Number of sleeping runs of W4, of schedules of SCHEDULES, and of runs of BACKLOG. */
  runs: number
  /** Runs in the store of LISTS and CONSOLE, and at the end of GROWTH; largest number of sleeping runs of CLAIMS. */
  listed: number
  profile: boolean
  /** Directory that keeps the profiles for other tools; without it they are deleted with the database. */
  profileDir?: string
  /** Flags for the Node that runs the engine. */
  nodeFlags: string[]
  /** Directory of the databases. Its file system decides what a commit costs. */
  dir: string
  /** A PostgreSQL database to measure instead of SQLite, in a schema that is dropped afterwards. */
  store?: string
  /** Number of engines on that database; events go to each in turn. */
  engines: number
  /** File for the figures as JSON. */
  json?: string
}

export const USAGE = `npm run bench -- [options]

  --only W1,W2     run these workloads (default: all)
  --seconds N      length of each measured window (default 10)
  --in-flight N,M  runs in flight in W1, one measurement each (default 100,300)
  --over A,B       http, connect, checkpoints: transports for W1, W2, RESULTS, W3, LONG and PAYLOADS (default: all)
  --runners A,B    bare, sdk: runners for W1, W2, RESULTS and LONG (default: both)
  --runs N         sleeping runs of W4, schedules of SCHEDULES, runs of BACKLOG (default 100000)
  --listed N       runs in the store of LISTS, CLAIMS, GROWTH and CONSOLE (default 1000000)
  --store URL      a postgres:// database for W1, W2, RESULTS, W3, SCHEDULES, BULK, CLAIMS, LISTS, READS, STREAMS, IDLE and ISOLATION, each in a schema of its own
  --engines N      engines on that database (default 1)
  --json FILE      also write the figures as JSON
  --profile        write CPU profiles of the engine and print where the time went
  --profile-dir D  keep the profiles there, for other tools (implies --profile)
  --node-flags F   flags for the engine's Node, for experiments, such as "--max-semi-space-size=64"
  --dir DIR        where to put the databases (default: the system's temporary directory)
`

/** Parses the arguments. Throws an error of one line for arguments that it cannot parse. */
export function readOptions(args: readonly string[]): BenchOptions {
  const options: BenchOptions = {
    only: [],
    seconds: 10,
    inFlight: [100, 300],
    over: [...OVERS],
    runners: [...RUNNERS],
    runs: 100_000,
    listed: 1_000_000,
    profile: false,
    nodeFlags: [],
    dir: tmpdir(),
    engines: 1,
  }
  for (let i = 0; i < args.length; i++) {
    const [flag, inline] = split(args[i] as string)
    if (flag === '--profile') {
      options.profile = true
      continue
    }
    const value = inline ?? args[++i]
    if (value === undefined) throw new Error(`${flag} needs a value`)
    if (flag === '--only') options.only = value.toUpperCase().split(',')
    else if (flag === '--seconds') options.seconds = positive(flag, value)
    else if (flag === '--in-flight') options.inFlight = value.split(',').map(n => positive(flag, n))
    else if (flag === '--over') options.over = value.split(',').map(over => oneOf(flag, OVERS, over))
    else if (flag === '--runners') options.runners = value.split(',').map(kind => oneOf(flag, RUNNERS, kind))
    else if (flag === '--runs') options.runs = Math.ceil(positive(flag, value))
    else if (flag === '--listed') options.listed = Math.ceil(positive(flag, value))
    else if (flag === '--json') options.json = value
    else if (flag === '--profile-dir') Object.assign(options, { profile: true, profileDir: value })
    else if (flag === '--node-flags') options.nodeFlags = value.split(' ')
    else if (flag === '--store') options.store = readStore(value)
    else if (flag === '--engines') options.engines = Math.ceil(positive(flag, value))
    else if (flag === '--dir') options.dir = value
    else throw new Error(`there is no option ${flag}`)
  }
  if (options.engines > 1 && options.store === undefined) throw new Error('--engines needs --store')
  return options
}

/** Every pair of two lists. */
export function pairsOf<A, B>(as: readonly A[], bs: readonly B[]): [A, B][] {
  return as.flatMap(a => bs.map((b): [A, B] => [a, b]))
}

function split(arg: string): [flag: string, value: string | undefined] {
  const equals = arg.indexOf('=')
  return equals < 0 ? [arg, undefined] : [arg.slice(0, equals), arg.slice(equals + 1)]
}

function oneOf<T extends string>(flag: string, all: readonly T[], text: string): T {
  const found = all.find(one => one === text)
  if (found === undefined) throw new Error(`${flag} must be of ${all.join(', ')}, not "${text}"`)
  return found
}

function readStore(text: string): string {
  if (!/^postgres(ql)?:\/\//.test(text)) throw new Error('--store must look like postgres://user@host/database')
  return text
}

function positive(flag: string, text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`${flag} must be a number above 0, not "${text}"`)
  return value
}
