// Runs that wait for each other: `why` of each names all of them, and the first timeout (docs/steps.md#waiting-for-runs).

import type { RunExplanation } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { CommandHost, child, flow, type Handler, openEngine, step, stepId, unique, wait } from '../../kit/index.ts'

const HOUR = 3_600_000
const engine = await openEngine()
const { api } = engine

const waitForRun = (runId: string, timeoutMs?: number) => step('WaitForRun', 'report', { runId, timeoutMs })

interface Awaited {
  runId: string
  timeoutMs?: number
}

/** Waits for the run that the event `go` of its data names. */
const gated: Handler = (invoke, pass) => {
  const { go } = invoke.event.data as { go: string }
  const first = wait('go', go)
  const entry = invoke.steps[stepId('go')] as { data?: { data: Awaited } } | undefined
  if (!entry?.data) return flow([first])(invoke, pass)
  const { runId, timeoutMs } = entry.data.data
  return flow([first, waitForRun(runId, timeoutMs)])(invoke, pass)
}
/** Starts a child that waits for this run. */
const parent: Handler = (invoke, pass) =>
  flow([child('kid', names.gated, { go: `${invoke.ctx.runId}-go` })])(invoke, pass)

const names = { gated: unique('gated'), parent: unique('parent') }
const runner = await engine.runner({ workflows: { [names.gated]: gated, [names.parent]: parent } })
await runner.register(api, { features: ['wait-for-run'] })

const start = async () => {
  const go = unique('go')
  const { runId } = await api.send({ name: names.gated, data: { go } })
  await api.reaches(runId, 'waiting')
  /** Makes the run wait for another run. */
  const awaits = async (awaited: Awaited) => {
    await api.send({ name: go, data: awaited })
    await waitsForRun(runId)
  }
  return { id: runId, awaits }
}
const waitsForRun = (runId: string) =>
  expect.poll(async () => (await api.run(runId)).waitingFor?.kind, { timeout: 60_000 }).toBe('run')
const why = async (id: string) => (await api.get(`/runs/${id}/why`)).json as RunExplanation
const NO_TIMEOUT = 'None of these waits has a timeout: cancel one of the runs, or settle its step.'

test('two runs without a timeout: each names the other, until one is cancelled', async () => {
  const [a, b] = [await start(), await start()]
  await b.awaits({ runId: a.id })
  expect((await why(b.id)).warnings).toBeUndefined()
  await a.awaits({ runId: b.id })
  const [path, back] = [`${a.id} waits for ${b.id}`, `${b.id} waits for ${a.id}`]
  expect((await why(a.id)).warnings).toEqual([
    `These runs wait for each other: ${path} waits for ${a.id}. ${NO_TIMEOUT}`,
  ])
  expect((await why(b.id)).warnings).toEqual([
    `These runs wait for each other: ${back} waits for ${b.id}. ${NO_TIMEOUT}`,
  ])
  const { stdout } = await new CommandHost().run(['runs', 'why', a.id], { ENGINE_URL: engine.url })
  expect(stdout).toContain(`warning: These runs wait for each other: ${path}`)
  await api.post(`/runs/${b.id}/cancel`)
  expect((await api.succeeded(a.id)).status).toBe('succeeded')
})

test('three runs, one of which has a timeout: it is named, and whoever waits for them from outside is in no circle', async () => {
  const [a, b, c, outside] = [await start(), await start(), await start(), await start()]
  await a.awaits({ runId: b.id })
  await b.awaits({ runId: c.id, timeoutMs: 2 * HOUR })
  await c.awaits({ runId: a.id, timeoutMs: HOUR })
  await outside.awaits({ runId: a.id })
  const first = (await why(c.id)).wakeAt
  expect((await why(b.id)).warnings).toEqual([
    `These runs wait for each other: ${b.id} waits for ${c.id} waits for ${a.id} waits for ${b.id}. The first timeout among these waits is at ${first}.`,
  ])
  expect((await why(outside.id)).warnings).toBeUndefined()
})

test('a child that waits for its parent', async () => {
  const { runId } = await api.send({ name: names.parent })
  await api.reaches(runId, 'waiting')
  const { childRunId } = await api.step(runId, 'kid')
  await api.reaches(childRunId as string, 'waiting')
  await api.send({ name: `${runId}-go`, data: { runId } })
  await waitsForRun(childRunId as string)
  for (const [one, other] of [
    [runId, childRunId],
    [childRunId, runId],
  ] as [string, string][])
    expect((await why(one)).warnings?.[0]).toContain(`${one} waits for ${other} waits for ${one}. ${NO_TIMEOUT}`)
})
