// `crashing-steps`: steps that end the process of their runner, while long runs are under way and new ones arrive all the time.
// Only the runs of those steps fail (docs/concepts.md#a-step-that-ends-its-process).

import { setTimeout as pause } from 'node:timers/promises'
import { type Api, EngineProcess, until } from '../../test/kit/index.ts'
import { MortalRunner } from '../../test/kit/runner/mortal-runner.ts'
import { freePort } from '../../test/kit/servers/free-port.ts'
import type { Finding, Order, Suite } from '../suite.ts'

const LONG_RUNS = 20
const LONG_MS = 2000
const CRASH_MS = 200
const CRASH_EVERY_MS = 1000
const NEW_EVERY_MS = 500
/** Tries of a pass. A crashing run uses them one after the other, with the backoff between them. */
const TRIES = 3
const ENDS_MS_MAX = 300_000

export const crashingSteps: Suite = {
  proves: 'steps that end the process of their runner: only their runs fail, over HTTP and Connect',
  unit: 'crashing runs',
  counts: { quick: 3, full: 20 },
  deadlineMs: { base: 300_000, each: 60_000 },
  run: endProcesses,
}

async function endProcesses({ count }: Order): Promise<Finding> {
  const counts: Record<string, number> = {}
  const problems: string[] = []
  for (const transport of ['http', 'connect'] as const) {
    const engine = await new EngineProcess({ env: { ENGINE_LOG_LEVEL: 'error' } }).start()
    const runner = new MortalRunner({
      transport,
      engineUrl: engine.url,
      port: await freePort(),
      handlerRetries: TRIES,
      crashMs: CRASH_MS,
      longMs: LONG_MS,
    }).start()
    const { long, crashing } = await load(engine.api, runner, count)
    const begun = Date.now()
    problems.push(...(await wrongEnds(engine.api, { runs: long, status: 'succeeded' })))
    problems.push(...(await wrongEnds(engine.api, { runs: crashing, status: 'failed' })))
    counts[`${transport} crashing`] = crashing.length
    counts[`${transport} others`] = long.length
    counts[`${transport} deaths`] = runner.deaths
    counts[`${transport} s to the last end`] = Math.round((Date.now() - begun) / 1000)
    runner.stop()
    await engine.sigterm()
  }
  return { counts, problems }
}

/** Starts long runs, then crashing and new long runs in turn. */
async function load(api: Api, { app, long: longName, crash }: MortalRunner, count: number) {
  await until(async () => ((await api.get(`/runners?app=${app}`)).json as unknown[]).length > 0, { what: 'the runner' })
  const send = async (name: string) => (await api.send({ name })).runId
  const long = await Promise.all(Array.from({ length: LONG_RUNS }, () => send(longName)))
  const crashing: string[] = []
  const endsAt = Date.now() + count * CRASH_EVERY_MS
  let crashesAt = Date.now()
  while (Date.now() < endsAt) {
    if (Date.now() >= crashesAt && crashing.length < count) {
      crashing.push(await send(crash))
      crashesAt += CRASH_EVERY_MS
    }
    long.push(await send(longName))
    await pause(NEW_EVERY_MS)
  }
  return { long, crashing }
}

async function wrongEnds(api: Api, { runs, status }: { runs: readonly string[]; status: 'succeeded' | 'failed' }) {
  const problems: string[] = []
  for (const runId of runs) {
    const run = await until(
      async () => {
        const run = await api.run(runId)
        return ['succeeded', 'failed'].includes(run.status) && run
      },
      { what: `the end of ${runId}`, deadlineMs: ENDS_MS_MAX },
    )
    const isRight = run.status === status && (status === 'succeeded' || run.error?.code === 'runner_unreachable')
    if (!isRight) problems.push(`${runId} of ${run.workflow} ${run.status}: ${run.error?.message ?? ''}`)
  }
  return problems
}
