// Waits for runs to park, and moves the engine's clock to when they wake.

import type { Run } from '@perdure/protocol'
import type { Api } from '../http/api.ts'
import { until } from '../until.ts'
import type { JumpClock } from './jump-clock.ts'

type WaitKind = NonNullable<Run['waitingFor']>['kind']

/** Resolves with the run once it waits for something of that kind. */
export function waitsFor(api: Api, runId: string, kind: WaitKind): Promise<Run> {
  return until(
    async () => {
      const run = await api.run(runId)
      return run.waitingFor?.kind === kind && run
    },
    { what: `run ${runId} waiting for ${kind}` },
  )
}

/**
 * Resolves with the time at which the run may start, once its throttle was queried. A run joins the start queue before that, and
 * is then leased for the query.
 */
export function waitsForStart(api: Api, runId: string): Promise<string> {
  return until(async () => (await waitsFor(api, runId, 'throttle')).waitingFor?.until, {
    what: `the next start of run ${runId}`,
  })
}

/** When the parked run wakes by itself, in epoch ms. */
export function wakesAt(run: Run): number {
  return Date.parse(run.waitingFor?.until ?? '')
}

/** Jumps to the end of the run's wait and waits for the run to wake; returns the length of the jump in ms. */
export async function skipWait(api: Api, clock: JumpClock, runId: string, kind: WaitKind): Promise<number> {
  const parked = await waitsFor(api, runId, kind)
  const wakes = wakesAt(parked)
  const ms = wakes - clock.now()
  clock.jumpTo(Math.max(wakes, clock.now()))
  await until(async () => (await api.run(runId)).waitingFor?.until !== parked.waitingFor?.until, {
    what: `run ${runId} waking from its ${kind}`,
  })
  return ms
}
