// Times and deadlines in the sentence about a run. Called by run-why.ts.

import type { WaitingFor } from '../model/run.ts'
import { timestamp } from '../text/timestamp.ts'

export function nextStartText(at: number | undefined): string {
  return at === undefined ? '' : ` until ${timestamp(at)}`
}

export function by({ until }: WaitingFor): string {
  return until === undefined ? 'soon' : `at ${timestamp(until)}`
}

export function deadlineText({ until }: WaitingFor): string {
  return until === undefined ? 'without a deadline' : `until ${timestamp(until)} at the latest`
}
