// The failure of a run in the words of its explanation.

import type { LastFailure, Run } from '../model/run.ts'

export function shownFailure({ lastFailure }: Run): Omit<LastFailure, 'suspicion'> | undefined {
  if (!lastFailure?.suspicion) return lastFailure
  const { suspicion: _, ...shown } = lastFailure
  return shown
}

export function failureText({ message, code, stepName }: NonNullable<Run['error']>): string {
  const at = stepName === undefined ? '' : ` in step "${stepName}"`
  return `${message}${code === undefined ? '' : ` (${code}${at})`}`
}

/** Names all attempts or tries: `the only attempt`, `the 3 attempts`. */
export const spentText = (count: number, noun: 'attempt' | 'try') =>
  count === 1 ? `the only ${noun}` : `the ${count} ${noun === 'try' ? 'tries' : 'attempts'}`
