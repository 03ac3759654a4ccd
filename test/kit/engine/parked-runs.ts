// Moving the clock of an engine by what its interface says: to the moment a parked run waits for.

import type { Run } from '@perdure/protocol'
import type { Api } from '../http/api.ts'
import { until } from '../until.ts'
import type { JumpClock } from './jump-clock.ts'

type WaitKind = NonNullable<Run['waitingFor']>['kind']

/** The run once it waits for something of that kind. */
export function waitsFor(api: Api, runId: string, kind: WaitKind): Promise<Run> {
  return until(
    async () => {
      const run = await api.run(runId)
      return run.waitingFor?.kind === kind && run
    },
    { what: `run ${runId} waiting for ${kind}` },
  )
}

/** When the parked run will wake by itself, in epoch ms. */
export function wakesAt(run: Run): number {
  return Date.parse(run.waitingFor?.until ?? '')
}

/** Jumps to the end of the run's wait, and sees it end; answers how long it was. */
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
