// `clock`: engines whose wall clock is set back and ahead while they work, and engines whose clocks differ. A long step
// runs once, waits meet their events, sleeps do not end early, and a shutdown takes no longer
// (docs/promises.md#timers).

import { setTimeout as pause } from 'node:timers/promises'
import {
  type Api,
  type EngineProcess,
  flow,
  freshSchema,
  PlainRunner,
  RunnerRecord,
  run,
  sleep,
  unique,
  until,
  wait,
} from '../../test/kit/index.ts'
import { haveServers } from '../../test/servers.ts'
import { skewedEngine } from '../load/skewed-engine.ts'
import type { Finding, Order, Suite } from '../suite.ts'

const SECOND_MS = 1000
const HOUR_MS = 3_600_000
/** How far the clock of a lone engine is set, while a step runs for longer than a lease. */
const JUMPS_MS = [-HOUR_MS, -30 * SECOND_MS, 30 * SECOND_MS, HOUR_MS]
/** How far the clocks of two engines on one database differ. */
const DIFFERENCES_MS = [-HOUR_MS, -1500, 1500, HOUR_MS]
const STEP_MS = 20_000
const SLEEP_MS = 6000
const WAITS = 10
const SLEEPS = 10
const DRAIN_MS_MAX = 10_000
const ENDS_MS_MAX = 60_000
/** How far an engine may be off the database's clock, which it measures over a busy connection. */
const MEASURED_MS = 1000

export const clock: Suite = {
  proves: 'wall clocks set back and ahead, and apart: no step twice, no wait misses its event, no sleep ends early',
  unit: 'rounds',
  counts: { quick: 1, full: 10 },
  deadlineMs: { base: 120_000, each: 240_000 },
  run: setClocks,
}

async function setClocks({ count }: Order): Promise<Finding> {
  const hasServers = await haveServers()
  const problems: string[] = []
  for (let i = 0; i < count; i++) {
    const alone = JUMPS_MS.map(jumpMs => setWhileAlone(jumpMs))
    const apart = hasServers ? DIFFERENCES_MS.map(offsetMs => setApart(offsetMs)) : []
    // All of them wait in real time, so they run at the same time.
    problems.push(...(await Promise.all([...alone, ...apart])).flat())
  }
  const aloneCount = count * JUMPS_MS.length
  const apartCount = hasServers ? count * DIFFERENCES_MS.length : 0
  return {
    counts: {
      'clocks set': aloneCount + apartCount,
      'long steps': aloneCount,
      waits: WAITS * (aloneCount + apartCount),
      sleeps: SLEEPS * apartCount,
    },
    problems,
    ...(hasServers ? {} : { skipped: ['clocks of several engines: PostgreSQL cannot be reached'] }),
  }
}

/** Sets the clock of the only engine while a step runs and waits are open. */
async function setWhileAlone(jumpMs: number): Promise<string[]> {
  const { engine, setClock } = skewedEngine()
  await engine.start()
  const { api } = engine
  const work = await openWork(api)
  const { runId } = await api.send({ name: work.long, app: work.app })
  const waiting = await openWaits(api, work)
  await until(() => work.record.times(runId, 'long') === 1, { what: 'the long step' })
  setClock(jumpMs)
  const problems = [...(await wake(api, waiting)), ...(await wake(api, await openWaits(api, work)))]
  await api.reaches(runId, 'succeeded', STEP_MS + ENDS_MS_MAX).catch(error => problems.push(String(error)))
  const times = work.record.times(runId, 'long')
  if (times !== 1) problems.push(`a step of ${STEP_MS} ms ran ${times} times`)
  problems.push(...(await drained(engine)))
  return problems.map(problem => `clock set by ${jumpMs} ms: ${problem}`)
}

/** Runs two engines on one database, and sets the clock of one once both run. */
async function setApart(offsetMs: number): Promise<string[]> {
  const store = await freshSchema()
  const { engine: skewed, setClock } = skewedEngine(store)
  const { engine: even } = skewedEngine(store)
  await skewed.start()
  await even.start()
  const work = await openWork(skewed.api)
  await until(async () => ((await even.api.get(`/runners?app=${work.app}`)).json as unknown[]).length > 0)
  setClock(offsetMs)
  const problems: string[] = []
  const beganAt = performance.now()
  const sleeping = await Promise.all(
    Array.from({ length: SLEEPS }, () => skewed.api.send({ name: work.nap, app: work.app })),
  )
  for (const [one, other] of [
    [skewed, even],
    [even, skewed],
  ] as const)
    problems.push(...(await wake(other.api, await openWaits(one.api, work))))
  for (const { runId } of sleeping) {
    await even.api.reaches(runId, 'succeeded', SLEEP_MS + ENDS_MS_MAX).catch(error => problems.push(String(error)))
    const tookMs = (work.endedAt.get(runId) ?? beganAt) - beganAt
    if (tookMs < SLEEP_MS - MEASURED_MS) problems.push(`a sleep of ${SLEEP_MS} ms took ${Math.round(tookMs)} ms`)
    const times = work.record.times(runId, 'awake')
    if (times !== 1) problems.push(`the step after a sleep ran ${times} times`)
  }
  problems.push(...(await drained(skewed)), ...(await drained(even)))
  return problems.map(problem => `clocks ${offsetMs} ms apart: ${problem}`)
}

interface Work {
  app: string
  long: string
  nap: string
  waiter: string
  record: RunnerRecord
  /** When the step after a sleep ran, by the monotonic clock of this process. */
  endedAt: ReadonlyMap<string, number>
}

async function openWork(api: Api): Promise<Work> {
  const [app, long, nap, waiter] = ['clocks', 'long', 'nap', 'waiter'].map(unique) as [string, string, string, string]
  const record = new RunnerRecord()
  const endedAt = new Map<string, number>()
  const workflows = {
    [long]: flow([run('long', () => pause(STEP_MS, 'done'))]),
    [nap]: flow([sleep('sleep', SLEEP_MS), run('awake', ({ ctx }) => void endedAt.set(ctx.runId, performance.now()))]),
    [waiter]: flow([
      run('first'),
      { name: 'wait', make: (invoke, results) => wait('wait', String(invoke.event.data)).make(invoke, results) },
    ]),
  }
  const runner = await new PlainRunner({ app, runner: app, record, workflows }).listen()
  await runner.register(api)
  return { app, long, nap, waiter, record, endedAt }
}

interface Waiting {
  runId: string
  event: string
}

async function openWaits(api: Api, { app, waiter }: Work): Promise<Waiting[]> {
  const waits: Waiting[] = []
  for (let i = 0; i < WAITS; i++) {
    const event = unique('awaited')
    const { runId } = await api.send({ name: waiter, app, data: event })
    waits.push({ runId, event })
  }
  return waits
}

/** Checks that each wait meets its event, whether the event comes before or after the wait is stored. */
async function wake(api: Api, waits: readonly Waiting[]): Promise<string[]> {
  const problems: string[] = []
  for (const { event } of waits) await api.send({ name: event })
  for (const { runId } of waits) {
    await api
      .reaches(runId, 'succeeded', ENDS_MS_MAX / 4)
      .catch(error => problems.push(`a wait missed its event: ${(error as Error).message.slice(0, 200)}`))
  }
  return problems
}

async function drained(engine: EngineProcess): Promise<string[]> {
  const began = performance.now()
  const { code } = await engine.sigterm()
  const tookMs = Math.round(performance.now() - began)
  const problems = code === 0 ? [] : [`the engine ended with ${code}`]
  return tookMs > DRAIN_MS_MAX ? [...problems, `the shutdown took ${tookMs} ms`] : problems
}
