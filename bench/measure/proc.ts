// Reads what Linux reports about a process: CPU time, also per thread, and resident memory. Undefined on other systems.

import { readdirSync, readFileSync } from 'node:fs'

/** Unit of the times in /proc: USER_HZ, 100 on every Linux in use. */
const TICKS_PER_SECOND = 100

/** CPU seconds of every live thread, by thread id. */
export type ThreadSeconds = ReadonlyMap<number, number>

/** User and system CPU seconds of the process since its start. */
export function cpuSeconds(pid: number): number | undefined {
  return ticksOf(`/proc/${pid}/stat`)
}

export function threadSeconds(pid: number): ThreadSeconds {
  const seconds = new Map<number, number>()
  for (const tid of list(`/proc/${pid}/task`)) {
    const used = ticksOf(`/proc/${pid}/task/${tid}/stat`)
    if (used !== undefined) seconds.set(Number(tid), used)
  }
  return seconds
}

/** Busy and total CPU seconds of the whole machine since boot, summed over its processors. */
export function machineSeconds(): { busy: number; all: number } | undefined {
  const line = read('/proc/stat')?.split('\n', 1)[0]
  if (line === undefined) return undefined
  // user nice system idle iowait irq softirq steal; the later fields are contained in these.
  const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number)
  const all = ticks.reduce((sum, value) => sum + value, 0)
  const idle = (ticks[3] ?? 0) + (ticks[4] ?? 0)
  return { busy: (all - idle) / TICKS_PER_SECOND, all: all / TICKS_PER_SECOND }
}

/** Resident set in bytes. */
export function residentBytes(pid: number): number | undefined {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1]
  return kib === undefined ? undefined : Number(kib) * 1024
}

function ticksOf(path: string): number | undefined {
  const stat = read(path)
  if (stat === undefined) return undefined
  // The second field is a name in parentheses that may contain spaces; utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
