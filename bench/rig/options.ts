// The command line of the bench.

import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'

/** How engine and runner communicate: a POST per invoke, a socket, or a socket with checkpoints of the steps. */
const OVERS = ['http', 'connect', 'checkpoints'] as const
export type Over = (typeof OVERS)[number]

/** The bench's own runner, or the SDK's. */
const RUNNERS = ['bare', 'sdk'] as const
export type RunnerKind = (typeof RUNNERS)[number]

export type BenchOptions = ReturnType<typeof readOptions>

export const USAGE = `npm run bench -- [options]

  --only W1,W2     run these workloads (default: all)
  --seconds N      length of each measured window (default 10)
  --in-flight N,M  runs in flight in W1, one measurement each (default 100,300)
  --over A,B       http, connect, checkpoints: transports for W1, W2, RESULTS, W3, LONG and PAYLOADS (default: all)
  --runners A,B    bare, sdk: runners for W1, W2, RESULTS and LONG (default: both)
  --runs N         runs of BACKLOG (default 100000)
  --listed N       runs in the store of LISTS, GROWTH and CONSOLE (default 1000000)
  --store URL      a postgres:// database for W1, W2, RESULTS, W3, LISTS, STREAMS and ISOLATION, each in a schema of its own
  --engines N      engines on that database (default 1)
  --json FILE      also write the figures as JSON
  --profile        write CPU profiles of the engine and print where the time went
  --profile-dir D  keep the profiles there, for other tools (implies --profile)
  --node-flags F   flags for the engine's Node, for experiments, such as "--max-semi-space-size=64"
  --dir DIR        where to put the databases (default: the system's temporary directory)
`

/** Parses the arguments. Throws an error of one line if it cannot parse them. */
export function readOptions(args: readonly string[]) {
  const text = { type: 'string' } as const
  // The value of this option begins with dashes. The parser accepts that only after an equals sign.
  const at = args.indexOf('--node-flags')
  const joined = at < 0 ? args : args.toSpliced(at, 2, `--node-flags=${args[at + 1]}`)
  const { values } = parseArgs({
    args: [...joined],
    options: {
      only: { ...text, default: '' },
      seconds: { ...text, default: '10' },
      'in-flight': { ...text, default: '100,300' },
      over: { ...text, default: OVERS.join() },
      runners: { ...text, default: RUNNERS.join() },
      runs: { ...text, default: '100000' },
      listed: { ...text, default: '1000000' },
      engines: { ...text, default: '1' },
      dir: { ...text, default: tmpdir() },
      'node-flags': { ...text, default: '' },
      'profile-dir': text,
      profile: { type: 'boolean', default: false },
      store: text,
      json: text,
    },
  })
  const { store, dir, json, profile, 'profile-dir': profileDir } = values
  const number = (flag: 'seconds' | 'runs' | 'listed' | 'engines') => positive(flag, values[flag])
  const engines = Math.ceil(number('engines'))
  if (store !== undefined && !store.startsWith('postgres://'))
    throw new Error('--store must look like postgres://user@host/database')
  if (engines > 1 && store === undefined) throw new Error('--engines needs --store')
  return {
    only: listOf(values.only.toUpperCase()),
    seconds: number('seconds'),
    inFlight: listOf(values['in-flight']).map(one => positive('in-flight', one)),
    over: listOf(values.over).map(one => oneOf('over', OVERS, one)),
    runners: listOf(values.runners).map(one => oneOf('runners', RUNNERS, one)),
    runs: Math.ceil(number('runs')),
    listed: Math.ceil(number('listed')),
    nodeFlags: values['node-flags'].split(' ').filter(Boolean),
    profile: profile || profileDir !== undefined,
    /** The file system of this folder determines the cost of a commit. */
    dir,
    engines,
    store,
    json,
    profileDir,
  }
}

/** Returns every pair of two lists. */
export function pairsOf<A, B>(as: readonly A[], bs: readonly B[]): [A, B][] {
  return as.flatMap(a => bs.map((b): [A, B] => [a, b]))
}

const listOf = (text: string) => text.split(',').filter(Boolean)

function oneOf<T extends string>(flag: string, all: readonly T[], text: string): T {
  const found = all.find(one => one === text)
  if (found === undefined) throw new Error(`--${flag} must be of ${all.join(', ')}, not "${text}"`)
  return found
}

function positive(flag: string, text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`--${flag} must be a number above 0, not "${text}"`)
  return value
}
