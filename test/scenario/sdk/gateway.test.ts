// A gateway in front of an SDK runner answers in its place: the run continues when the runner answers again. And a runner that
// does not accept the engine: its runs wait until keys and clocks agree.

import { createWorkflow } from '@perdure/sdk'
import { serve } from '@perdure/sdk/node'
import { expect, test } from 'vitest'
import { JumpClock, onCleanup, openEngine, scenario, unique, until } from '../../kit/index.ts'
import { Gateway } from '../../kit/servers/gateway.ts'

const { api, url, clock } = await scenario()

/** A runner of the SDK behind a gateway. */
async function behindGateway() {
  const gateway = await Gateway.open()
  const name = unique('behind')
  let calls = 0
  const workflow = createWorkflow({ name }, ({ step }) => step.run('one', () => ++calls))
  const options = { port: 0, url: gateway.url, engineUrl: url, signingKey: [], allowUnsigned: true, log: () => {} }
  const runner = await serve({ app: name, workflows: [workflow], ...options })
  onCleanup(() => runner.close())
  gateway.port = runner.port
  await runner.ready
  return { gateway, name }
}

/** Moves the engine's clock until the condition holds. */
const soon = <T>(look: () => T | Promise<T>, moved: JumpClock = clock) =>
  until(() => {
    moved.jump(500)
    return look()
  })

test.each([
  [404, 'default backend - 404'],
  [429, 'Too Many Requests'],
  [401, '{"error":{"message":"no token","code":"engine_refused"}}'],
  [302, 'see /login'],
  [204, ''],
  [200, '{"status":"ok"}'],
  [206, '{"opcodes":[],"logs":[]}'],
  [200, 'x'.repeat(2 * 1024 * 1024)],
])('a gateway that answers %i is no verdict on the run', async (status, body) => {
  const { gateway, name } = await behindGateway()
  gateway.answer = status === 204 ? { status } : { status, body }
  const { runId } = await api.send({ name })
  await soon(() => gateway.ownAnswers >= 2)
  expect((await api.get(`/runs/${runId}/why`)).json).toMatchObject({ error: { code: 'runner_unreachable' } })
  gateway.answer = undefined
  await soon(async () => (await api.run(runId)).status === 'succeeded')
  expect((await api.run(runId)).result).toBe(1)
})

test('the error of a run whose tries a gateway has spent names address, status and text', async () => {
  const { gateway, name } = await behindGateway()
  gateway.answer = { status: 404, body: '<h1>no backend</h1>' }
  const { runId } = await api.send({ name })
  await until(async () => {
    clock.jump(20_000)
    return (await api.run(runId)).status === 'failed'
  })
  expect((await api.run(runId)).error).toMatchObject({
    code: 'runner_unreachable',
    message: expect.stringMatching(
      `^${gateway.url} answered 404: no backend. .* removes its header x-perdure-runner.$`,
    ),
  })
})

const KEY = 'k'.repeat(32)
const OTHER = 'o'.repeat(32)

/** An engine that its runner refuses, and a run that waits for this reason. */
async function refusing({ engineKey, offMs = 0 }: { engineKey: string; offMs?: number }) {
  const ahead = new JumpClock(Date.now() + offMs)
  const engine = await openEngine({ env: { ENGINE_SIGNING_KEY: engineKey }, clock: ahead })
  const name = unique('refusing')
  const workflows = [createWorkflow({ name }, ({ step }) => step.run('one', () => 'done'))]
  const options = { app: name, workflows, engineUrl: engine.url, log: () => {} }
  const runner = await serve({ ...options, port: 0, signingKey: KEY })
  onCleanup(() => runner.close())
  runner.ready.catch(() => {})
  const metric = async () => {
    const { text } = await engine.api.get('/metrics')
    return Number(/perdure_invokes_total\{transport="http",outcome="engine_refused"\} (\d+)/.exec(text)?.[1])
  }
  await until(async () => ((await engine.api.get('/runners')).json as unknown[]).length === 1)
  const { runId } = await engine.api.send({ name })
  await soon(async () => (await metric()) >= 2, ahead)
  const run = () => engine.api.run(runId)
  const waits = async () => (await run()).waitingFor?.kind === 'runner'
  await soon(waits, ahead)
  expect((await engine.api.get('/readyz')).status).toBe(200)
  const why = (await engine.api.get(`/runs/${runId}/why`)).json as { sentence: string }
  const succeeds = () => soon(async () => (await run()).status === 'succeeded', ahead)
  return { engine, ahead, runner, options, why, succeeds }
}

test('a run waits while the clocks differ, and goes on when they agree', async () => {
  const { engine, ahead, why, succeeds } = await refusing({ engineKey: KEY, offMs: 600_000 })
  expect(why.sentence).toMatch(/The clocks differ: .* \d+ s off this runner's clock/)
  expect(engine.log.join()).toContain('a runner refuses this engine: its runs wait')
  ahead.setWall(Date.now())
  await succeeds()
})

test('a run waits while the keys differ, which the registration has shown, and goes on when they agree', async () => {
  const { engine, why, succeeds, runner, options } = await refusing({ engineKey: OTHER })
  expect((await engine.api.get('/runners')).json).toMatchObject([{ keyMatches: false }])
  expect(why.sentence).toContain("signed with none of this runner's keys")
  await runner.close()
  const mended = await serve({ ...options, port: runner.port, signingKey: [KEY, OTHER] })
  onCleanup(() => mended.close())
  await succeeds()
})
