// Repeated kill -9 under load: nothing that was acknowledged is lost, and no step runs again whose result was seen.
// `PERDURE_KILLS=1000` for the long run, `PERDURE_SEED` to repeat the choices of an earlier run.

import { type Violation, verifyStore } from '@perdure/engine'
import { expect, test } from 'vitest'
import { type Api, type Destination, EngineProcess, openDestination, PlainRunner, seeded, until } from '../kit/index.ts'
import { Availability, killOnce } from './kill/availability.ts'
import { LoadClient } from './kill/client.ts'
import { verdict } from './kill/verdict.ts'
import { hasOpenDeliveries, MANY_ATTEMPTS, MemoRecord, workload } from './kill/workload.ts'

const KILLS = Number(process.env.PERDURE_KILLS ?? 25)
const SEED = Number(process.env.PERDURE_SEED ?? Date.now() % 1_000_000)
const ORDERS_UNDER_WAY = 24
/** Invokes between a start of the engine and its kill, at most. */
const PROGRESS_MAX = 80
const SETTLE_MS_MAX = 60_000
const TITLE = `${KILLS} kills: no acknowledged event lost, no step run again, no effect twice`

test(TITLE, { timeout: 120_000 + KILLS * 4000 }, async () => {
  const destination = await openDestination()
  const env = {
    ENGINE_WEBHOOK_ALLOW_PRIVATE: '1',
    ENGINE_WEBHOOK_SCHEDULE: MANY_ATTEMPTS,
    ENGINE_LOG_LEVEL: 'error',
  }
  const engine = await new EngineProcess({ env }).start()
  const { api } = engine
  const record = new MemoRecord()
  const runner = await new PlainRunner({
    runner: 'steady',
    record,
    workflows: workload(destination.url),
  }).listen()
  await runner.register(api)
  await engine.kill9()

  const availability = new Availability()
  const { whenUp } = availability
  const client = new LoadClient({ api, app: runner.app, whenUp, parallel: ORDERS_UNDER_WAY })
  const random = seeded(SEED)
  const progress = () => record.invokeCount
  for (let i = 0; i < KILLS; i++) await killOnce(engine, { availability, random, progress, progressMax: PROGRESS_MAX })

  await engine.start()
  availability.up()
  await client.finish(SETTLE_MS_MAX)
  await settled(api, { app: runner.app, client, destination })
  const summary = `seed ${SEED}: ${KILLS} kills, ${client.acknowledged.length} orders acknowledged, ${client.unanswered.size} unanswered, ${record.invokeCount} invokes, ${record.executedCount} steps executed`
  console.log(summary)
  const problems = await verdict({
    api,
    app: runner.app,
    client,
    runner: record,
    hooks: destination.requests,
  })
  expect(problems.slice(0, 40), `${problems.length} differences; ${summary}`).toEqual([])
  expect(client.acknowledged.length, summary).toBeGreaterThan(KILLS)

  expect(await engine.sigterm()).toMatchObject({ code: 0 })
  expect(await violationsOf(engine.storeFile)).toEqual([])
})

/** Waits for everything in flight, up to a deadline. The verdict then reports what is missing. */
async function settled(
  api: Api,
  { app, client, destination }: { app: string; client: LoadClient; destination: Destination },
) {
  const quiet = async () => {
    for (const status of ['queued', 'running']) {
      if ((await api.runs(`?app=${app}&status=${status}&limit=1`)).length > 0) return false
    }
    if (await hasOpenDeliveries(api, app)) return false
    const delivered = new Set(destination.requests.map(({ body }) => (JSON.parse(body) as { token: string }).token))
    return client.acknowledged.every(({ token }) => delivered.has(token))
  }
  await until(quiet, { deadlineMs: SETTLE_MS_MAX }).catch(() => {})
}

async function violationsOf(file: string): Promise<Violation[]> {
  const found: Violation[] = []
  for await (const violation of verifyStore(`sqlite:${file}`)) found.push(violation)
  return found
}
