// The second half of W4: every sleep ends at one moment; measures until the last run has finished.

import { CpuMeter, type CpuUse } from '../../measure/cpu-meter.ts'
import { percentiles } from '../../measure/latency.ts'
import { nowUs } from '../../measure/profile.ts'
import type { Figures } from '../../report/report.ts'
import type { Rig } from '../../rig/rig.ts'

/** Without a wake for this long, the remaining runs count as lost. */
const STALLED_MS = 30_000

export interface Woken {
  figures: Figures
  cpu: CpuUse
  problems: string[]
}

export async function wakeAll(rig: Rig, { runs, dueAt }: { runs: number; dueAt: number }): Promise<Woken> {
  const lagsMs: number[] = []
  let early = 0
  let lastAt = dueAt
  rig.runner.onLeft(({ finished }) => {
    const now = Date.now()
    for (const _ of finished) lagsMs.push(now - dueAt)
    if (now < dueAt) early += finished.length
    lastAt = now
  })
  await sleep(dueAt - Date.now())
  const meter = new CpuMeter(rig.pids)
  const fromUs = nowUs()
  while (lagsMs.length < runs && Date.now() - Math.max(lastAt, dueAt) < STALLED_MS) await sleep(20)
  const cpu = meter.read()
  rig.profileSpan({ fromUs, toUs: nowUs() })
  rig.runner.onLeft(() => {})
  const problems: string[] = []
  if (early > 0) problems.push(`${early} runs woke before their time`)
  if (lagsMs.length < runs) problems.push(`${runs - lagsMs.length} runs did not wake`)
  const { p50, p99, max } = percentiles(lagsMs)
  const figures = {
    'runs/s': (lagsMs.length * 1000) / (lastAt - dueAt),
    seconds: (lastAt - dueAt) / 1000,
    'first after ms': lagsMs[0] ?? Number.NaN,
    'p50 after ms': p50,
    'p99 after ms': p99,
    'last after ms': max,
    'finished more than once': Math.max(0, lagsMs.length - runs),
  }
  return { figures, cpu, problems }
}

function sleep(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, Math.max(0, ms)))
}
