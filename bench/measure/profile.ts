// Reads V8 CPU profiles (`--cpu-prof`): the functions in which the threads of an engine spent their time.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface FunctionTime {
  name: string
  /** Share of the thread's busy time. */
  share: number
  ms: number
}

export interface ThreadProfile {
  /** `main`, or the name that the engine gave the thread. */
  thread: string
  busyMs: number
  idleMs: number
  /** Functions by the time in their own code, and by the time including all functions they call. */
  self: FunctionTime[]
  total: FunctionTime[]
  /** Own time by package or module. */
  modules: FunctionTime[]
}

export interface TimeSpan {
  fromUs: number
  toUs: number
}

interface CpuProfile {
  nodes: {
    id: number
    callFrame: { functionName: string; url: string; lineNumber: number }
    children?: number[]
  }[]
  startTime: number
  samples: number[]
  timeDeltas: number[]
}

const TOP = 25

/** Returns the time of the profiles' clock, in monotonic microseconds. */
export function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n)
}

/** Returns every profile in the directory, cut to the spans. Threads without busy time in them are left out. */
export function readProfiles(dir: string, spans: readonly TimeSpan[]): ThreadProfile[] {
  return readdirSync(dir)
    .filter(file => file.endsWith('.cpuprofile'))
    .sort()
    .map(file => summarise(threadOf(file), JSON.parse(readFileSync(join(dir, file), 'utf8')), spans))
    .filter(profile => profile.busyMs > 0)
    .sort((a, b) => (a.thread < b.thread ? -1 : 1))
}

/** Returns the thread of a file. Files are named after the thread and a number: `main-1`, `perdure_writer-4711`. */
function threadOf(file: string): string {
  return file.slice(0, file.lastIndexOf('-')).replaceAll('_', ' ')
}

function summarise(thread: string, profile: CpuProfile, spans: readonly TimeSpan[]): ThreadProfile {
  const self = selfTimes(profile, spans)
  const byId = new Map(profile.nodes.map(node => [node.id, node]))
  const root = profile.nodes[0] as CpuProfile['nodes'][number]
  const selfByName = new Map<string, number>()
  const totalByName = new Map<string, number>()
  const byModule = new Map<string, number>()
  let idleUs = 0
  let busyUs = 0

  /** Walks depth first; a recursive function counts once per stack. Returns the time in the node and below it. */
  const walk = (id: number, above: ReadonlySet<string>): number => {
    const node = byId.get(id) as CpuProfile['nodes'][number]
    const name = nameOf(node.callFrame)
    const own = self.get(id) ?? 0
    if (isWaiting(node.callFrame)) {
      idleUs += own
      return 0
    }
    busyUs += own
    add(selfByName, name, own)
    add(byModule, moduleOf(node.callFrame), own)
    const stack = above.has(name) ? above : new Set(above).add(name)
    let total = own
    for (const child of node.children ?? []) total += walk(child, stack)
    if (!above.has(name)) add(totalByName, name, total)
    return total
  }
  walk(root.id, new Set())
  totalByName.delete('(root)')
  const top = (times: Map<string, number>) => topOf(times, busyUs)
  return {
    thread,
    busyMs: busyUs / 1000,
    idleMs: idleUs / 1000,
    self: top(selfByName),
    total: top(totalByName),
    modules: top(byModule),
  }
}

/** Returns microseconds by node, for the samples inside the spans. */
function selfTimes({ samples, timeDeltas, startTime }: CpuProfile, spans: readonly TimeSpan[]) {
  const times = new Map<number, number>()
  let now = startTime
  for (const [i, id] of samples.entries()) {
    const us = timeDeltas[i] as number
    now += us
    if (spans.some(({ fromUs, toUs }) => now >= fromUs && now <= toUs)) add(times, id, us)
  }
  return times
}

function add<K>(times: Map<K, number>, key: K, us: number): void {
  times.set(key, (times.get(key) ?? 0) + us)
}

function topOf(times: Map<string, number>, busyUs: number): FunctionTime[] {
  return [...times]
    .filter(([, us]) => us > 0)
    .sort(([, a], [, b]) => b - a)
    .slice(0, TOP)
    .map(([name, us]) => ({ name, ms: us / 1000, share: us / busyUs }))
}

/** Whether this is the idle event loop, or a sleeping thread (see profile-threads.cjs). */
function isWaiting({ functionName }: CpuProfile['nodes'][number]['callFrame']): boolean {
  return functionName === '(idle)' || functionName === 'profiledSleep'
}

function nameOf({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  const name = functionName === '' ? '(anonymous)' : functionName
  return url === '' ? name : `${name} ${shortUrl(url)}:${lineNumber + 1}`
}

/** `engine/services/pass/driver.js`, `undici/lib/dispatcher/client.js`, `node:internal/streams/writable`. */
function shortUrl(url: string): string {
  const inPackages = /\/packages\/(\w+)\/dist\/(.+)$/.exec(url)
  if (inPackages) return `${inPackages[1]}/${inPackages[2]}`
  return url.split('/node_modules/').at(-1) ?? url
}

/** One level coarser: a folder of the engine, an npm package, or Node itself. */
function moduleOf({ functionName, url }: CpuProfile['nodes'][number]['callFrame']): string {
  if (url === '') return functionName.startsWith('(') ? functionName : '(native)'
  const short = shortUrl(url)
  if (short.startsWith('node:')) return 'node'
  const parts = short.split('/')
  if (url.includes('/node_modules/')) return parts.slice(0, short.startsWith('@') ? 2 : 1).join('/')
  return parts.slice(0, -1).join('/')
}
