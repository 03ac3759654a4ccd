// Prints the results of a run of suites: one verdict line for each suite, and a table of all that can be pasted into a page.

import type { Finding } from './suite.ts'

export interface Verdict {
  suite: string
  proves: string
  seed: number
  ms: number
  finding: Finding
}

/** Maximum number of differences printed below a failed verdict. */
const PROBLEMS_SHOWN_MAX = 20

type Word = 'holds' | 'FAILS' | 'SKIPPED'

/** A suite that could run nothing proves nothing; a suite that could run in part holds in that part. */
export function wordOf({ problems, counts, skipped = [] }: Finding): Word {
  if (problems.length > 0) return 'FAILS'
  return skipped.length > 0 && Object.keys(counts).length === 0 ? 'SKIPPED' : 'holds'
}

/** Returns the verdict in one line, with the seed that repeats it. */
export function verdictLine({ suite, seed, ms, finding }: Verdict): string {
  const word = wordOf(finding)
  const differences = word === 'FAILS' ? `${finding.problems.length} differences, ` : ''
  const skipped = (finding.skipped ?? []).map(reason => `; SKIPPED ${reason}`).join('')
  return `${suite}: ${word}, ${differences}${countsOf(finding)}seed ${seed}, ${(ms / 1000).toFixed(1)} s${skipped}`
}

/** Returns the differences behind a failed verdict, one per line. */
export function problemLines({ finding: { problems } }: Verdict): string[] {
  const shown = problems.slice(0, PROBLEMS_SHOWN_MAX).map(problem => `  - ${problem}`)
  const left = problems.length - shown.length
  return left > 0 ? [...shown, `  - and ${left} more`] : shown
}

/** Returns the verdicts as a table in Markdown. */
export function table(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ suite, proves, seed, ms, finding }) => [
    `\`${suite}\``,
    proves,
    [...Object.entries(finding.counts).map(([what, count]) => `${count} ${what}`), ...skippedOf(finding)].join(', '),
    String(seed),
    `${Math.round(ms / 1000)} s`,
    wordOf(finding),
  ])
  const header = ['suite', 'proves', 'counts', 'seed', 'time', 'verdict']
  return [header, header.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

function countsOf({ counts }: Finding): string {
  return Object.entries(counts)
    .map(([what, count]) => `${count} ${what}, `)
    .join('')
}

function skippedOf({ skipped = [] }: Finding): string[] {
  return skipped.map(reason => `skipped: ${reason}`)
}
