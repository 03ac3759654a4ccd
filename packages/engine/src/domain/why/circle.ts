// Runs that wait for each other in a circle, and how the circle can end (docs/steps.md#waiting-for-runs).
// services/run/wait-circle finds them.

import { timestamp } from '../text/timestamp.ts'

/** Each run waits for the next, and the last one for the first. */
export interface WaitCircle {
  runIds: readonly string[]
  /** The first timeout of these waits. */
  until?: number | undefined
}

/** The warning about a run, which is the first of the circle. */
export function circleWarning({ runIds, until }: WaitCircle): string {
  const [own, ...others] = runIds
  const path = [own, ...others, own].join(' waits for ')
  const end =
    until === undefined
      ? 'None of these waits has a timeout: cancel one of the runs, or settle its step.'
      : `The first timeout among these waits is at ${timestamp(until)}.`
  return `These runs wait for each other: ${path}. ${end}`
}
