// `between`: trouble between an engine and its runner. At random moments a gateway answers instead of the runner, or the keys or
// the clocks of the two sides differ. No run fails because of it, and all runs end when it is over
// (docs/wire-protocol.md#marked-answers).

import { setTimeout as pause } from 'node:timers/promises'
import { createWorkflow } from '@perdure/sdk'
import { serve } from '@perdure/sdk/node'
import { EngineProcess, onCleanup, unique } from '../../test/kit/index.ts'
import { Gateway } from '../../test/kit/servers/gateway.ts'
import { lostOf, openRuns, TokenLoad } from '../load/token-load.ts'
import type { Finding, Order, Suite } from '../suite.ts'

const ANSWERS = [
  { status: 404, body: 'default backend - 404' },
  { status: 429, body: 'Too Many Requests' },
  { status: 408, body: '' },
  { status: 403, body: '<h1>blocked</h1>' },
  { status: 401, body: '{"error":{"message":"no token"}}' },
  { status: 302, body: '' },
  { status: 204 },
  { status: 200, body: '{"status":"ok"}' },
  { status: 206, body: '{"opcodes":[],"logs":[]}' },
]
const [KEY, OTHER] = ['k'.repeat(32), 'o'.repeat(32)] as const
const KINDS = ['gateways', 'keys', 'clocks'] as const
/** Shorter than all tries of a pass together. */
const FAULT_MS_MAX = 2000
const CALM_MS = 500
const CLOCK_OFF_MS = 600_000
const ENDS_MS_MAX = 90_000
const PARALLEL = 4

export const between: Suite = {
  proves: 'gateways that answer for a runner, keys and clocks that differ: no run fails, all end when they agree',
  unit: 'faults',
  counts: { quick: 12, full: 300 },
  deadlineMs: { base: 240_000, each: 5000 },
  run: disturb,
}

async function disturb({ count, random }: Order): Promise<Finding> {
  const engine = await new EngineProcess({ env: { ENGINE_SIGNING_KEY: KEY, ENGINE_LOG_LEVEL: 'error' } }).start()
  const { api } = engine
  const app = unique('between')
  const gateway = await Gateway.open()
  const workflow = createWorkflow({ name: app }, async ({ event, step }) => {
    await step.run('one', () => 1)
    return step.run('two', () => (event.data as { token: string }).token)
  })
  const start = async (signingKey: string) => {
    const options = { app, workflows: [workflow], engineUrl: engine.url, log: () => {}, handleSignals: false }
    const runner = await serve({ ...options, port: 0, url: gateway.url, signingKey })
    runner.ready.catch(() => {})
    gateway.port = runner.port
    return runner
  }
  let runner = await start(KEY)
  onCleanup(() => runner.close())
  await runner.ready
  const withKey = async (key: string) => {
    await runner.close()
    runner = await start(key)
  }
  const realNow = Date.now
  onCleanup(() => {
    Date.now = realNow
  })
  const load = new TokenLoad({ api, app, name: app, parallel: PARALLEL })
  const counts = { faults: 0, gateways: 0, keys: 0, clocks: 0 }
  for (; counts.faults < count; counts.faults++) {
    const ms = random.between(200, FAULT_MS_MAX)
    const kind = KINDS[counts.faults % KINDS.length] as (typeof KINDS)[number]
    counts[kind]++
    if (kind === 'gateways') gateway.answer = ANSWERS[random.between(0, ANSWERS.length - 1)]
    if (kind === 'keys') await withKey(OTHER)
    // The runner is in this process, and the engine in another.
    if (kind === 'clocks') Date.now = () => realNow() + CLOCK_OFF_MS
    await pause(ms)
    gateway.answer = undefined
    Date.now = realNow
    if (kind === 'keys') await withKey(KEY)
    await pause(CALM_MS)
  }
  await load.stop()
  const acknowledged = load.acknowledged.entries()
  const problems = [...(await openRuns(api, app, ENDS_MS_MAX)), ...(await lostOf(api, acknowledged))]
  for (const { token, accepted } of acknowledged) {
    const { status, result, error } = await api.run(accepted.runId)
    if (status !== 'succeeded' || result !== token) problems.push(`${accepted.runId} is ${status}: ${error?.message}`)
  }
  const ready = await api.get('/readyz')
  if (ready.status !== 200) problems.push(`/readyz is ${ready.status}`)
  if (acknowledged.length === 0) problems.push('no event was acknowledged')
  return { counts: { ...counts, runs: acknowledged.length }, problems }
}
