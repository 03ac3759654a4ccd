// Logs passes without a result, because the transport failed or the answer could not be read: once per run and minute.
// The run itself keeps the last reason (`domain/pass/advance`).

import type { Logger } from 'pino'
import type { Run } from '../../domain/model/run.ts'
import type { Clock } from '../../ports/clock.ts'
import { OncePerMinute } from '../support/once-per-minute.ts'

/** Logs one failed pass. Called before the run counts the failure. */
export type PassLog = (run: Run, failed: { runnerId: string; error: string }) => void

export function passLog(clock: Clock, log: Logger): PassLog {
  const oncePerRun = new OncePerMinute(clock)
  return ({ namespace, id: runId, app, workflow, transportTries }, { runnerId, error }) => {
    if (!oncePerRun.isDue(runId)) return
    const tries = transportTries + 1
    log.warn({ namespace, app, workflow, runId, runnerId, tries, error }, 'a pass came to nothing')
  }
}
