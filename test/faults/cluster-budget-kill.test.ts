// The budget of a tree of many children that spend at random, with two engines on PostgreSQL that are killed repeatedly
// (docs/budgets.md): every attempt counts once, and every run of the tree stops at a step boundary once a limit is
// exceeded.

import type { RunSummary } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { violations } from '../kit/engine/violations.ts'
import { pages } from '../kit/http/pages.ts'
import {
  child,
  type EngineProcess,
  flow,
  freshSchema,
  type Handler,
  openRunner,
  run,
  type Step,
  seeded,
  startEngine,
  stepId,
  unique,
  until,
} from '../kit/index.ts'
import { SEED } from '../part.ts'

const CHILDREN = 80
const KILLS = 4
const FEATURES = { features: ['budgets', 'memo-attempt'] }

/** Thousandths of a dollar that an attempt spends, equal for every execution of it. */
function amountOf(runId: string, step: string, attempt: number): number {
  return Number.parseInt(stepId(`${runId} ${step} ${attempt}`).slice(0, 4), 16) % 1000
}

/** Every third attempt fails. */
const fails = (runId: string, step: string, attempt: number) => amountOf(runId, step, attempt) % 3 === 0 && attempt < 3

const spends = (name: string): Step => ({
  name,
  make: ({ ctx }) => {
    const { stepAttempts = {} } = ctx as { stepAttempts?: Record<string, number> }
    const attempt = stepAttempts[stepId(name)] ?? 1
    const spent = { usd: amountOf(ctx.runId, name, attempt) / 1000 }
    return fails(ctx.runId, name, attempt)
      ? { op: 'StepRun', spent, error: { message: 'no' }, retryAfterMs: 5 }
      : { op: 'StepRun', spent, data: name }
  },
})

test(`${CHILDREN} children, ${KILLS} kills: the sum is that of the attempts, and all stop at the limit`, {
  timeout: 300_000,
}, async () => {
  const random = seeded(SEED)
  const storeFile = await freshSchema()
  const engines = await Promise.all([startEngine({ storeFile }), startEngine({ storeFile })])
  const [root, leaf] = [unique('root'), unique('leaf')]
  const names = Array.from({ length: CHILDREN }, (_, i) => child(`child-${i}`, leaf))
  const parent: Handler = flow([names, run('end')], () => 'done')
  const runner = await openRunner({
    workflows: {
      [root]: { handler: parent, registration: { budget: { usd: 20, steps: 1e6, runs: 1e6 } } },
      [leaf]: { handler: flow([spends('a'), spends('b'), spends('c')], () => 'leaf') },
    },
  })
  const alive = () => engines[0] as EngineProcess
  await runner.register(alive().api, FEATURES)
  const { runId } = await alive().api.send({ name: root })
  const api = () => alive().api
  const children = () => pages<RunSummary>(api(), `/runs?parentRunId=${runId}&limit=200`)
  const kill = async () => {
    const engine = engines[random.between(0, engines.length - 1)] as EngineProcess
    await engine.restart()
    await runner.register(engine.api, FEATURES)
  }
  for (let kills = 0; kills < KILLS / 2; kills++) {
    await new Promise(resolve => setTimeout(resolve, 100 + random.between(0, 400)))
    await kill()
  }
  // Every live child stops: it is paused, and no more passes are sent.
  const live = async () => (await children()).filter(({ status }) => status !== 'succeeded')
  await until(
    async () =>
      (await children()).length === CHILDREN &&
      (await live()).every(({ status, waitingFor }) => status === 'paused' && waitingFor?.kind === 'budget'),
    {
      what: 'the pause of every live child',
      deadlineMs: 120_000,
    },
  )
  const stopped = await live()
  expect(stopped.length).toBeGreaterThan(0)
  const invokes = () => runner.record.invokes.length
  const before = invokes()
  await kill()
  expect(invokes()).toBe(before)

  const reportedBy = async (runs: readonly { id: string }[]) => {
    let [thousandths, steps] = [0, 0]
    for (const { id } of runs)
      for (const step of await api().steps(id)) {
        steps++
        for (let attempt = 1; attempt <= step.attempt; attempt++) thousandths += amountOf(id, step.name, attempt)
      }
    return { thousandths, steps }
  }
  const check = async () => {
    const { thousandths, steps } = await reportedBy(await children())
    const { budget } = await api().run(runId)
    const own = (await api().steps(runId)).length
    expect(budget).toMatchObject({ runs: { spent: CHILDREN + 1 }, steps: { spent: steps + own } })
    return { spent: Math.round(Number(budget?.usd?.spent ?? 0) * 1000), thousandths }
  }
  const atLimit = await check()
  expect(atLimit.spent).toBe(atLimit.thousandths)

  // The engine that takes the call may be killed during it.
  const raised = api()
    .post(`/runs/${runId}/budget`, { usd: 1e6 })
    .catch(() => {})
  for (let kills = KILLS / 2; kills < KILLS; kills++) {
    await new Promise(resolve => setTimeout(resolve, 50 + random.between(0, 300)))
    await kill()
  }
  // The engine that took the call may have been killed, so the caller repeats it.
  await raised
  await api().post(`/runs/${runId}/budget`, { usd: 1e6 })
  await until(async () => (await api().run(runId)).status === 'succeeded', {
    what: 'the end of the tree',
    deadlineMs: 150_000,
  })
  const atEnd = await check()
  expect(atEnd.spent).toBe(atEnd.thousandths)
  expect(await violations(storeFile)).toEqual([])
})
