// kill -9 of the engine and of the runner while steps start runs: every step has exactly one run, and all starts with a key have
// the same run (docs/steps.md#starting-runs).

import type { Run, RunSummary } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { seeded, startEngine, unique, until } from '../kit/index.ts'
import { RunnerProcess, SDK_DIST } from '../kit/runner/runner-process.ts'
import { TcpProxy } from '../kit/servers/tcp-proxy.ts'
import { isNight, SEED } from '../part.ts'

const KILLS = isNight ? 20 : 4
/** Number of runs with a step that starts another run, before each kill. */
const WAVE = 12
const KEYS = 2
const ENDS_MS_MAX = 120_000

const PROGRAM = `
  import { setTimeout as pause } from 'node:timers/promises'
  import { createWorkflow } from '${SDK_DIST}/index.js'
  import { serve } from '${SDK_DIST}/node.js'
  const { app, engineUrl } = JSON.parse(process.argv[1])
  const target = createWorkflow({ name: app + '-target' }, ({ step }) => step.waitForEvent('go', { event: app + '/never' }))
  const starter = createWorkflow({ name: app, handlerRetries: 1000 }, async ({ event, step }) => {
    await step.run('before', () => pause(5))
    const started = await step.startRun('go', { workflow: target, key: event.data.key, data: event.data })
    await step.run('after', () => pause(5))
    return started
  })
  await serve({ app, runner: 'only', workflows: [starter, target], engineUrl, log: () => {}, port: 0, allowUnsigned: true })`

interface Started {
  key: string | undefined
  starter: Run
  runId: string
  existing: boolean
}

test(`${KILLS} kills: a step starts one run, and all starts with its key get that one`, {
  timeout: 240_000,
}, async () => {
  const random = seeded(SEED)
  const engine = await startEngine()
  const { api } = engine
  const proxy = await TcpProxy.open(engine.url, 80)
  const app = unique('starts')
  const runner = new RunnerProcess(PROGRAM, { app, engineUrl: proxy.urlOf(engine.url) }).start()
  await until(async () => ((await api.get(`/runners?app=${app}`)).json as unknown[]).length > 0)
  const targets = () => api.runs(`?workflow=${app}-target&limit=200`) as Promise<RunSummary[]>

  const starters: { key: string | undefined; runId: string }[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    const enough = (await targets()).length + random.between(1, WAVE / 2)
    for (let i = 0; i < WAVE; i++) {
      const key = i % 3 === 0 ? undefined : `${kill}-${i % KEYS}`
      const { runId } = await api.send({ name: app, data: { key } })
      starters.push({ key, runId })
    }
    await until(async () => (await targets()).length >= enough, { what: 'started runs', deadlineMs: ENDS_MS_MAX })
    if (kill % 2 === 0) {
      await engine.kill9()
      await engine.start()
      proxy.leadTo(engine.url, 80)
    } else {
      await runner.kill9()
      runner.start()
    }
  }

  const started: Started[] = []
  for (const { key, runId } of starters) {
    const starter = await api.reaches(runId, 'succeeded', ENDS_MS_MAX)
    started.push({ key, starter, ...(starter.result as { runId: string; existing: boolean }) })
  }
  const summary = `seed ${SEED}: ${JSON.stringify(started.map(({ key, runId, existing }) => [key, runId, existing]))}`
  const made = started.filter(({ existing }) => !existing)
  const all = await targets()
  expect(all.map(({ id }) => id).sort(), summary).toEqual(made.map(({ runId }) => runId).sort())
  for (const { key, starter, runId } of made) {
    expect(all.find(({ id }) => id === runId)).toMatchObject({
      startedBy: { runId: starter.id, stepName: 'go' },
      ...(key === undefined ? {} : { key }),
    })
    const ofKey = started.filter(other => key !== undefined && other.key === key)
    expect(new Set(ofKey.map(other => other.runId)), summary).toEqual(new Set(key === undefined ? [] : [runId]))
    expect(ofKey.filter(({ existing }) => !existing).length, summary).toBe(key === undefined ? 0 : 1)
  }
  expect(
    made.filter(({ key }) => key !== undefined),
    summary,
  ).toHaveLength(KILLS * KEYS)
})
