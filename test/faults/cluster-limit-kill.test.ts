// A limit that steps of many runs share, with two engines on PostgreSQL that are killed repeatedly. By the runner's
// own record, no period has more starts than the limit allows, whatever a killed engine had granted
// (docs/steps.md#limits-that-steps-share).

import { expect, test } from 'vitest'
import { violations } from '../kit/engine/violations.ts'
import { type EngineProcess, flow, freshSchema, openRunner, seeded, startEngine, unique, until } from '../kit/index.ts'
import { Starts } from '../kit/runner/limited.ts'
import { SEED } from '../part.ts'

const RUNS = 40
const KILLS = 4
const PERIOD_MS = 1000
const LIMIT = 8
const FEATURES = { features: ['step-limits', 'memo-attempt'], limits: { vendor: { limit: LIMIT, period: PERIOD_MS } } }

test(`${RUNS} runs, ${KILLS} kills: no window of a period has more than ${LIMIT} starts`, {
  timeout: 180_000,
}, async () => {
  const random = seeded(SEED)
  const storeFile = await freshSchema()
  const engines = await Promise.all([startEngine({ storeFile }), startEngine({ storeFile })])
  const [name, starts] = [unique('vendor'), new Starts()]
  // Every fifth first attempt fails; callbacks take up to half a period.
  const body = async ({ attempt, runId }: { attempt: number; runId: string }) => {
    await new Promise(resolve => setTimeout(resolve, random.between(0, PERIOD_MS / 2)))
    if (attempt === 1 && runId.charCodeAt(runId.length - 1) % 5 === 0) throw new Error('busy')
  }
  const steps = ['a', 'b'].map(step => starts.limited(step, 'vendor', { body }))
  const runner = await openRunner({ workflows: { [name]: flow([steps]) } })
  const one = () => engines[random.between(0, 1)] as EngineProcess
  for (const engine of engines) await runner.register(engine.api, FEATURES)
  const send = (data: number) => one().api.send({ name, data, id: `start-${data}` })
  const ids = await Promise.all(Array.from({ length: RUNS }, (_, n) => send(n).then(({ runId }) => runId)))
  for (let kills = 0; kills < KILLS; kills++) {
    await new Promise(resolve => setTimeout(resolve, 300 + random.between(0, 1200)))
    const engine = one()
    await engine.restart()
    await runner.register(engine.api, FEATURES)
  }
  const { api } = one()
  const left = async () =>
    (await Promise.all(ids.map(id => api.run(id)))).filter(({ status }) => status !== 'succeeded')
  await until(async () => (await left()).length === 0, { what: 'the end of every run', deadlineMs: 120_000 })
  expect(starts.all.length).toBeGreaterThanOrEqual(2 * RUNS)
  expect(starts.mostIn(PERIOD_MS)).toBeLessThanOrEqual(LIMIT)
  expect(await violations(storeFile)).toEqual([])
})
