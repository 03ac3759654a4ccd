// `soak`: a steady load for a long time. Everything acknowledged ends correctly, and the engine's memory and open files do not
// grow.

import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { openSingleEngine } from '../load/single-engine.ts'
import type { Finding, Order, Suite } from '../suite.ts'

const ORDERS_UNDER_WAY = 12
const SAMPLE_MS = 500
/** Maximum growth from the second quarter of the time to the last. Shorter times only warm up the engine. */
const GROWTH_MAX = 1.3
const JUDGED_SECONDS_MIN = 300
const FILES_MORE_MAX = 20

export const soak: Suite = {
  proves: 'a steady load for hours: everything ends right, memory and open files stay flat',
  unit: 'seconds',
  counts: { quick: 5, full: 7200 },
  deadlineMs: { base: 240_000, each: 1500 },
  run: loadSteadily,
}

interface Sample {
  residentMiB: number
  openFiles: number
}

async function loadSteadily({ count }: Order): Promise<Finding> {
  const { engine, record, availability, startClient, judge, close } = await openSingleEngine({
    ordersUnderWay: ORDERS_UNDER_WAY,
  })
  availability.up()
  const client = startClient()
  const samples: Sample[] = []
  for (const endsAt = performance.now() + count * 1000; performance.now() < endsAt; await pause(SAMPLE_MS)) {
    const sample = sampleOf(engine.pid)
    if (sample) samples.push(sample)
  }
  const problems = await judge(client)
  const [early, late] = [quarter(samples, 1), quarter(samples, 3)]
  if (count >= JUDGED_SECONDS_MIN && early && late) {
    if (late.residentMiB > early.residentMiB * GROWTH_MAX)
      problems.push(`memory grew from ${early.residentMiB} to ${late.residentMiB} MiB`)
    if (late.openFiles > early.openFiles + FILES_MORE_MAX)
      problems.push(`open files grew from ${early.openFiles} to ${late.openFiles}`)
  }
  problems.push(...(await close()))
  return {
    counts: {
      seconds: count,
      'orders acknowledged': client.acknowledged.length,
      'steps executed': record.executedCount,
      ...(early && late ? { 'MiB early': early.residentMiB, 'MiB late': late.residentMiB } : {}),
    },
    problems,
  }
}

/** Returns undefined on systems without `/proc`. */
function sampleOf(pid: number): Sample | undefined {
  try {
    const resident = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return { residentMiB: Math.round(Number(resident) / 1024), openFiles: readdirSync(`/proc/${pid}/fd`).length }
  } catch {
    return undefined
  }
}

/** Returns the median of each figure in one quarter of the samples, counted from 0. */
function quarter(samples: readonly Sample[], n: number): Sample | undefined {
  const some = samples.slice((samples.length * n) / 4, (samples.length * (n + 1)) / 4)
  if (some.length === 0) return undefined
  const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] as number
  return {
    residentMiB: median(some.map(({ residentMiB }) => residentMiB)),
    openFiles: median(some.map(({ openFiles }) => openFiles)),
  }
}
