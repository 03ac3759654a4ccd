// CPU seconds of the bench's processes over one window, with the busiest threads of each.

import { availableParallelism } from 'node:os'
import { cpuSeconds, machineSeconds, type ThreadSeconds, threadSeconds } from './proc.ts'

interface CpuShare {
  process: string
  seconds: number
  /** The first thread, which runs the JavaScript. */
  mainSeconds: number
  /** The busiest other thread; in the engine it is the store's writer. */
  busiestOtherSeconds: number
}

export interface CpuUse {
  shares: CpuShare[]
  /** Share of the whole machine that other processes used. Above a few percent the figures are unusable. */
  othersShare: number
  /** Share of the whole machine that nobody used. */
  idleShare: number
  /** Length of the window. */
  seconds: number
}

/** Returns the CPU seconds of one process, or of all processes whose name begins like this. */
export function secondsOf({ shares }: CpuUse, name: string): number {
  return shares.reduce((sum, { process, seconds }) => sum + (process.startsWith(name) ? seconds : 0), 0)
}

interface Before {
  name: string
  pid: number
  seconds: number
  threads: ThreadSeconds
}

export class CpuMeter {
  readonly #before: Before[]
  readonly #machineBefore = machineSeconds()

  /** Starts counting. `pids` are keyed by the name of the process. */
  constructor(pids: Readonly<Record<string, number>>) {
    this.#before = Object.entries(pids).flatMap(([name, pid]) => {
      const seconds = cpuSeconds(pid)
      return seconds === undefined ? [] : [{ name, pid, seconds, threads: threadSeconds(pid) }]
    })
  }

  /** Returns the CPU used since the start, without processes that have ended since then. */
  read(): CpuUse {
    const shares = this.#before.flatMap(({ name, pid, seconds, threads }) => {
      const now = cpuSeconds(pid)
      return now === undefined ? [] : [{ process: name, seconds: now - seconds, ...split(pid, threads) }]
    })
    const [before, now] = [this.#machineBefore, machineSeconds()]
    if (!before || !now) return { shares, othersShare: Number.NaN, idleShare: Number.NaN, seconds: Number.NaN }
    const ours = shares.reduce((sum, { seconds }) => sum + seconds, 0)
    const [busy, all] = [now.busy - before.busy, now.all - before.all]
    const seconds = all / availableParallelism()
    return { shares, othersShare: Math.max(0, busy - ours) / all, idleShare: 1 - busy / all, seconds }
  }
}

function split(pid: number, before: ThreadSeconds): { mainSeconds: number; busiestOtherSeconds: number } {
  let mainSeconds = 0
  const others: number[] = []
  for (const [tid, seconds] of threadSeconds(pid)) {
    const used = seconds - (before.get(tid) ?? 0)
    if (tid === pid) mainSeconds = used
    else others.push(used)
  }
  return { mainSeconds, busiestOtherSeconds: Math.max(0, ...others) }
}
