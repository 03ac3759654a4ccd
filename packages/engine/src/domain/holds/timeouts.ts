// A run's timeouts: `timeouts.queue` until its first invoke, `timeouts.run` from then on. Checked before every pass, and
// whenever a run loses its lease, so that it wakes in time.

import type { RunError } from '@perdure/protocol'
import type { Run } from '../model/run.ts'

type Timed = Pick<Run, 'holds' | 'createdAt' | 'startedAt' | 'startAt'>

/** The time at which the run fails unless it has started, or ended; undefined when it has no such timeout. */
export function runDeadline({ holds, createdAt, startedAt, startAt = createdAt }: Timed): number | undefined {
  if (holds === undefined) return undefined
  const { queueTimeoutMs, runTimeoutMs } = holds
  if (startedAt === undefined) return queueTimeoutMs === undefined ? undefined : startAt + queueTimeoutMs
  return runTimeoutMs === undefined ? undefined : startedAt + runTimeoutMs
}

/** The error of a run whose deadline has passed; it names the timeout. */
export function timedOut(run: Timed, now: number): RunError | undefined {
  const deadline = runDeadline(run)
  if (deadline === undefined || now < deadline) return undefined
  const message =
    run.startedAt === undefined
      ? `The run did not start within its timeouts.queue of ${run.holds?.queueTimeoutMs} ms.`
      : `The run did not end within its timeouts.run of ${run.holds?.runTimeoutMs} ms.`
  return { message, code: 'timeout' }
}
