// The comparison of two texts in the form in which it is drawn. Pure; runs in the page, or in a worker for large texts.

import { TEXT_JOBS } from '../json/text-jobs.ts'
import { veiledText } from '../json/veil-json.ts'
import { changedStretches, type DiffLine, diffLines } from './diff-lines.ts'

/** Maximum number of lines drawn; longer comparisons show how many they leave out. */
const LINES_MAX = 2000

export interface DiffJob {
  before: string
  after: string
  /** The texts are JSON as it was sent: they are indented before the comparison. */
  isJson: boolean
  /** Payloads are hidden: the shapes of the values are compared. */
  isVeiled: boolean
}

export interface Diff {
  isSame: boolean
  lines: readonly (DiffLine | { skipped: number })[]
  /** Number of lines left out. */
  left: number
}

export function diffOf({ before, after, isJson, isVeiled }: DiffJob): Diff {
  const [a, b] = [before, after].map(text => {
    if (isVeiled) return veiledText(text, true)
    return isJson ? (TEXT_JOBS.pretty(text) as string) : text
  }) as [string, string]
  if (a === b) return { isSame: true, lines: [], left: 0 }
  const lines = changedStretches(diffLines(a, b))
  return { isSame: false, lines: lines.slice(0, LINES_MAX), left: Math.max(lines.length - LINES_MAX, 0) }
}
