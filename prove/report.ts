// Writes what a run of suites prints: one verdict line for each suite, and a table of all that can be pasted into a page.

import type { Finding } from './suite.ts'

export interface Verdict {
  suite: string
  proves: string
  seed: number
  ms: number
  finding: Finding
}

/** Differences that are printed below a verdict that failed. */
const PROBLEMS_SHOWN_MAX = 20

type Word = 'holds' | 'FAILS' | 'SKIPPED'

/** A suite of which nothing could run proves nothing; one of which a part could run holds in that part. */
export function wordOf({ problems, counts, skipped = [] }: Finding): Word {
  if (problems.length > 0) return 'FAILS'
  return skipped.length > 0 && Object.keys(counts).length === 0 ? 'SKIPPED' : 'holds'
}

/** The verdict in one line, with the seed that repeats it. */
export function verdictLine({ suite, seed, ms, finding }: Verdict): string {
  const word = wordOf(finding)
  const differences = word === 'FAILS' ? `${finding.problems.length} differences, ` : ''
  const skipped = (finding.skipped ?? []).map(reason => `; SKIPPED ${reason}`).join('')
  return `${suite}: ${word}, ${differences}${countsOf(finding)}seed ${seed}, ${(ms / 1000).toFixed(1)} s${skipped}`
}

/** The differences behind a verdict that failed, one in each line. */
export function problemLines({ finding: { problems } }: Verdict): string[] {
  const shown = problems.slice(0, PROBLEMS_SHOWN_MAX).map(problem => `  - ${problem}`)
  const left = problems.length - shown.length
  return left > 0 ? [...shown, `  - and ${left} more`] : shown
}

/** The verdicts as a table in Markdown. */
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
