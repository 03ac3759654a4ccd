// Logs passes that came to nothing, since the transport failed or the answer could not be read: once per run and minute.
// The run itself keeps the last reason (`domain/pass/advance`).

import type { Logger } from 'pino'
import type { Run } from '../../domain/model/run.ts'
import type { Clock } from '../../ports/clock.ts'
import { OncePerMinute } from '../support/once-per-minute.ts'

/** Told of a run whose pass failed, before that is counted, and of what came back. */
export type PassLog = (run: Run, failed: { runnerId: string; error: string }) => void

export function passLog(clock: Clock, log: Logger): PassLog {
  const quiet = new OncePerMinute(clock)
  return ({ namespace, id: runId, app, workflow, transportTries }, { runnerId, error }) => {
    if (!quiet.isDue(runId)) return
    const tries = transportTries + 1
    log.warn({ namespace, app, workflow, runId, runnerId, tries, error }, 'a pass came to nothing')
  }
}
