// The result type of workloads, and its output as text. The JSON file contains the same data in full.

import type { CpuUse } from '../measure/cpu-meter.ts'
import type { FunctionTime, ThreadProfile } from '../measure/profile.ts'

/** Numbers by name; the name contains the unit. */
export type Figures = Record<string, number>

/** The figures of a workload, or of one part of it. */
export interface Outcome {
  title: string
  /** Groups of figures, one line of the table each. */
  figures: Record<string, Figures>
  /** How the figures were measured. */
  notes?: string[]
  /** Lost, failed or doubtful runs. The bench fails unless this is empty. */
  problems?: string[]
  profiles?: ThreadProfile[]
}

export interface Result extends Required<Outcome> {
  workload: string
}

const LABEL_WIDTH = 20
const PROFILE_ROWS = { self: 25, total: 25, modules: 12 } as const

/**
 * Returns the CPU figures of a window in which `runs` runs finished. `rest` is mostly garbage collection and compilation. Shares
 * are of one core.
 */
export function cpuFigures(
  { shares, othersShare, idleShare, seconds: window }: CpuUse,
  runs: number,
): Record<string, Figures> {
  const perRun = (seconds: number) => (seconds * 1e6) / runs
  const figures = shares.map(({ process, seconds, mainSeconds, busiestOtherSeconds }) => [
    `cpu ${process}`,
    {
      seconds,
      'us/run': perRun(seconds),
      'main thread': perRun(mainSeconds),
      'busiest other thread': perRun(busiestOtherSeconds),
      rest: perRun(Math.max(0, seconds - mainSeconds - busiestOtherSeconds)),
      'main thread %': (100 * mainSeconds) / window,
      'busiest other %': (100 * busiestOtherSeconds) / window,
    },
  ])
  return { ...Object.fromEntries(figures), machine: { '% idle': 100 * idleShare, '% of others': 100 * othersShare } }
}

export function printResult(result: Result): void {
  const lines = [`\n${result.workload}  ${result.title}`]
  for (const [group, figures] of Object.entries(result.figures)) {
    const shown = Object.entries(figures).map(([name, value]) => `${name} ${formatNumber(value)}`)
    lines.push(`  ${group.padEnd(LABEL_WIDTH)} ${shown.join(' · ')}`)
  }
  for (const note of result.notes) lines.push(`  note: ${note}`)
  for (const problem of result.problems) lines.push(`  PROBLEM: ${problem}`)
  for (const profile of result.profiles) lines.push(...profileLines(profile))
  console.log(lines.join('\n'))
}

function profileLines(profile: ThreadProfile): string[] {
  const busyShare = (100 * profile.busyMs) / (profile.busyMs + profile.idleMs)
  const lines = [`  profile: ${profile.thread} thread, busy ${formatNumber(busyShare)} % of the window`]
  for (const kind of ['modules', 'self', 'total'] as const) {
    lines.push(`    by ${kind === 'modules' ? 'module, own time' : `function, ${kind} time`}`)
    lines.push(...profile[kind].slice(0, PROFILE_ROWS[kind]).map(functionLine))
  }
  return lines
}

function functionLine({ name, share, ms }: FunctionTime): string {
  return `      ${(100 * share).toFixed(1).padStart(5)} %  ${formatNumber(ms).padStart(7)} ms  ${name}`
}

/** Formats with about three digits, and with separators for thousands. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '-'
  const size = Math.abs(value)
  const digits = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
