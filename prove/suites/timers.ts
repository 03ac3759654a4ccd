// `timers`: sleeps, timeouts of waits and a schedule across restarts of the engine by kill -9, in real time, and sleeps of months
// in virtual time. No timer fires early, none is lost, and a schedule starts one run for each instant (docs/promises.md#timers).

import { setTimeout as pause } from 'node:timers/promises'
import { violations } from '../../test/kit/engine/violations.ts'
import {
  type Api,
  EngineProcess,
  flow,
  JumpClock,
  openEngine,
  PlainRunner,
  RunnerRecord,
  returned,
  type Seeded,
  seeded,
  sleep,
  until,
  wait,
} from '../../test/kit/index.ts'
import { Ledger } from '../../test/kit/ledger.ts'
import { openRuns } from '../load/token-load.ts'
import type { Finding, Order, Suite } from '../suite.ts'

const LENGTH_MS_MAX = 8000
const KILLS = 3
const ENDS_MS_MAX = 120_000
const SENT_AT_ONCE = 50
const DAY_MS = 86_400_000
/** Some are beyond the 24.8 days that a timer of the runtime can wait. */
const VIRTUAL_DAYS = [1, 25, 30, 49.8, 365, 3000]

export const timers: Suite = {
  proves: 'sleeps, timeouts, schedules over kill -9, sleeps of years: none early, none lost, none twice',
  unit: 'timers',
  counts: { quick: 200, full: 20_000 },
  deadlineMs: { base: 240_000, each: 50 },
  async run(order) {
    const [real, virtual] = [await overRestarts(order), await overYears(order.seed)]
    return { counts: { ...real.counts, ...virtual.counts }, problems: [...real.problems, ...virtual.problems] }
  },
}

interface Fired {
  runId: string
  /** How late the pass after the timer was. */
  lateMs: number
}

async function overRestarts({ count, random }: Order): Promise<Finding> {
  const app = 'timers'
  const fired = new Ledger<Fired>('runner')
  const due = new Map<string, number>()
  const timed = (lengthMs: number, timer: ReturnType<typeof sleep>) =>
    flow([timer], (_, { ctx, event }) => {
      fired.append({ runId: ctx.runId, lateMs: Date.now() - (due.get(ctx.runId) ?? Number.POSITIVE_INFINITY) })
      return { lengthMs, data: event.data }
    })
  const runner = await new PlainRunner({
    app,
    runner: app,
    workflows: {
      timed: (invoke, record) => {
        const { lengthMs, isWait } = invoke.event.data as { lengthMs: number; isWait: boolean }
        // The timer begins when its step is stored, after this answer.
        if (invoke.pass === 1) due.set(invoke.ctx.runId, Date.now() + lengthMs)
        const timer = isWait ? wait('timer', 'never', lengthMs) : sleep('timer', lengthMs)
        return timed(lengthMs, timer)(invoke, record)
      },
      ticking: { handler: () => returned(), registration: { triggers: [{ cron: '* * * * * *' }] } },
    },
  }).listen()
  const engine = await new EngineProcess({ env: { ENGINE_LOG_LEVEL: 'silent' } }).start()
  const { api } = engine
  await runner.register(api)
  const runIds: string[] = []
  while (runIds.length < count) {
    const some = Array.from({ length: Math.min(SENT_AT_ONCE, count - runIds.length) }, async () => {
      const data = { lengthMs: random.between(1, LENGTH_MS_MAX), isWait: random.next() < 0.3 }
      runIds.push((await api.send({ name: 'timed', app, data })).runId)
    })
    await Promise.all(some)
  }
  for (let i = 0; i < KILLS; i++) {
    await pause(random.between(0, LENGTH_MS_MAX / KILLS))
    await engine.restart()
  }
  const problems = await openRuns(api, app, ENDS_MS_MAX)
  problems.push(...(await differences({ api, runIds, fired })))
  const ticks = await ticksOf(api, app)
  if (new Set(ticks).size < ticks.length) problems.push('an instant of the schedule started two runs')
  await engine.sigterm()
  problems.push(...(await violations(`sqlite:${engine.storeFile}`)).map(violation => JSON.stringify(violation)))
  return { counts: { timers: runIds.length, kills: KILLS, instants: ticks.length }, problems }
}

async function differences(found: { api: Api; runIds: readonly string[]; fired: Ledger<Fired> }): Promise<string[]> {
  const problems: string[] = []
  const entries = found.fired.entries()
  for (const { runId, lateMs } of entries) {
    if (lateMs < 0) problems.push(`the timer of run ${runId} fired ${-lateMs} ms early`)
  }
  const firedRuns = new Set(entries.map(({ runId }) => runId))
  for (const runId of found.runIds) {
    if (!firedRuns.has(runId)) problems.push(`the timer of run ${runId} is lost`)
    const { status } = await found.api.run(runId)
    if (status !== 'succeeded') problems.push(`run ${runId} is ${status}`)
  }
  return problems
}

async function ticksOf(api: Api, app: string): Promise<string[]> {
  const runs = await api.runs(`?app=${app}&q=ticking&limit=200`)
  const inputs = await Promise.all(runs.map(async ({ id }) => (await api.run(id)).input))
  return inputs.flatMap(input => (input as { scheduledAt?: string } | undefined)?.scheduledAt ?? [])
}

/** Runs one sleep of each length. A millisecond before its end the run still sleeps, and then it ends. */
async function overYears(seed: number): Promise<Finding> {
  const random: Seeded = seeded(seed)
  const problems: string[] = []
  for (const days of VIRTUAL_DAYS) {
    const clock = new JumpClock()
    const engine = await openEngine({ clock })
    const lengthMs = days * DAY_MS + random.between(0, DAY_MS)
    const record = new RunnerRecord()
    const runner = await engine.runner({ record, workflows: { long: flow([sleep('long', lengthMs)]) } })
    const { runId } = await engine.api.send({ name: 'long', app: runner.app })
    await engine.api.reaches(runId, 'waiting')
    clock.jump(lengthMs - 1)
    await engine.api.send({ name: 'nobody.listens' })
    if ((await engine.api.run(runId)).status !== 'waiting') problems.push(`a sleep of ${days} days ended early`)
    // The lease and the pass itself need time to continue.
    await until(async () => {
      clock.jump(1)
      return (await engine.api.run(runId)).status === 'succeeded'
    }).catch(() => problems.push(`a sleep of ${days} days did not end`))
    if (record.passes(runId) !== 2) problems.push(`a sleep of ${days} days took ${record.passes(runId)} passes`)
    await engine.stop()
  }
  return { counts: { 'virtual days slept': VIRTUAL_DAYS.reduce((sum, days) => sum + days, 0) }, problems }
}
