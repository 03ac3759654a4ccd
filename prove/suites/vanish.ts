// `vanish`: a runner's machine disappears silently, over HTTP and over Connect; a second runner stays. New runs end in time on
// the second runner, and lost passes are noticed and repeated (docs/wire-protocol.md#routing).

import { setTimeout as pause } from 'node:timers/promises'
import { type Api, EngineProcess, unique, until } from '../../test/kit/index.ts'
import { type Machine, openMachines, whyNoMachines } from '../servers/machines.ts'
import type { Finding, Order, Suite } from '../suite.ts'

const NEW_WORK_P99_MS_MAX = 3000
const UNDER_WAY_MS_MAX = 25_000
const LONG_MS = 8000
const LONG_RUNS = 8
const SHORT_EVERY_MS = 50
const SHORT_FOR_MS = 25_000
const KEY = 'sk_prove_of_machines_that_vanish'
const KEYS = JSON.stringify([{ label: 'prove', namespace: 'default', kind: 'secret', key: KEY }])

export const vanish: Suite = {
  proves: "a runner's machine vanishes: new runs p99 under 3 s, passes under way repeated within 25 s",
  unit: 'machines',
  counts: { quick: 1, full: 10 },
  deadlineMs: { base: 120_000, each: 180_000 },
  run: vanishing,
}

async function vanishing({ count }: Order): Promise<Finding> {
  const why = whyNoMachines()
  if (why) return { counts: {}, problems: [], skipped: [why] }
  const { address, machines } = openMachines(['gone', 'stays'])
  const env = { ENGINE_HOST: address, ENGINE_API_KEYS: KEYS, ENGINE_LOG_LEVEL: 'error' }
  const engine = await new EngineProcess({ env }).start()
  const api = engine.api.as(KEY)
  const [gone] = machines as [Machine]
  const counts: Record<string, number> = { machines: 0 }
  const problems: string[] = []
  for (const transport of ['http', 'connect']) {
    const app = unique('vanish')
    const runners = machines.map(machine =>
      machine.run({
        RUNNER_TRANSPORT: transport,
        RUNNER_APP: app,
        RUNNER_LONG_MS: String(LONG_MS),
        ENGINE_URL: engine.url,
        ENGINE_API_KEY: KEY,
      }),
    )
    for (let i = 0; i < count; i++) {
      await warmUp(api, app)
      const { p99, underWay } = await loseMachine(api, app, gone)
      counts.machines = (counts.machines ?? 0) + 1
      const worst = (name: string, ms: number) => {
        counts[`${transport} ${name} ms`] = Math.max(counts[`${transport} ${name} ms`] ?? 0, ms)
      }
      worst('new p99', p99)
      worst('under way', underWay)
      if (p99 > NEW_WORK_P99_MS_MAX) problems.push(`${transport}: new runs took ${p99} ms at p99`)
      if (underWay > UNDER_WAY_MS_MAX) problems.push(`${transport}: passes under way were noticed after ${underWay} ms`)
      gone.comeBack()
    }
    for (const runner of runners) runner.kill('SIGKILL')
  }
  return { counts, problems }
}

/** Resolves when both runners have had work. */
async function warmUp(api: Api, app: string): Promise<void> {
  const registered = async () => ((await api.get(`/runners?app=${app}`)).json as unknown[]).length === 2
  await until(registered, { what: 'two runners' })
  const results = new Set<unknown>()
  const both = async () => {
    const sent = await Promise.all(Array.from({ length: 20 }, () => api.send({ app, name: `${app}-short` })))
    for (const { runId } of sent) results.add((await api.succeeded(runId)).result)
    return results.size === 2
  }
  await until(both, { what: 'both runners', deadlineMs: 120_000 })
}

/** Measures new runs and runs under way while a machine is gone. */
async function loseMachine(api: Api, app: string, machine: Machine): Promise<{ p99: number; underWay: number }> {
  const long = await Promise.all(Array.from({ length: LONG_RUNS }, () => api.send({ app, name: `${app}-long` })))
  await pause(2000)
  machine.vanish()
  const goneAt = Date.now()
  const short: string[] = []
  while (Date.now() - goneAt < SHORT_FOR_MS) {
    short.push((await api.send({ app, name: `${app}-short` })).runId)
    await pause(SHORT_EVERY_MS)
  }
  const times: number[] = []
  for (const runId of short) {
    const { createdAt, finishedAt = '' } = await api.succeeded(runId)
    times.push(Date.parse(finishedAt) - Date.parse(createdAt))
  }
  times.sort((a, b) => a - b)
  let underWay = 0
  for (const { runId } of long) {
    const { finishedAt = '' } = await api.succeeded(runId)
    underWay = Math.max(underWay, Date.parse(finishedAt) - LONG_MS - goneAt)
  }
  return { p99: times[Math.ceil(times.length * 0.99) - 1] ?? 0, underWay }
}
