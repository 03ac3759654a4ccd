// Late answers at two engines on one PostgreSQL database (docs/wire-protocol.md#late-answers): a run is ended at one engine while
// the other drives it, and its runner may have its socket at either engine.

import type { RunSummary } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { WIRES } from '../../kit/engine/cluster.ts'
import {
  flow,
  freshSchema,
  gate,
  hang,
  type Invoke,
  JumpClock,
  type OpenEngine,
  opcode,
  openEngine,
  PlainRunner,
  RunnerRecord,
  run,
  undoing,
  unique,
  until,
} from '../../kit/index.ts'
import { dial } from '../../kit/runner/connect-client.ts'
import { type ReportingInvoke, reportSteps } from '../../kit/runner/pass-reports.ts'

const CHARGED = opcode('StepRun', 'charge', { data: 'charged', rollback: true })

/** Waits until the cleanup of a run has ended. */
async function cleanedUp({ api }: OpenEngine, runId: string): Promise<void> {
  const cleanups = async () => (await api.get(`/runs?parentRunId=${runId}&kind=cleanup`)).json as RunSummary[]
  const { id } = await until(async () => (await cleanups())[0], { what: 'the cleanup run' })
  await api.succeeded(id)
  expect(await cleanups()).toHaveLength(1)
  expect(await api.steps(runId)).toMatchObject([{ name: 'charge', status: 'succeeded', data: 'charged' }])
}

/** A workflow whose only step is under way until `hold` opens. */
function charging() {
  const [begun, hold] = [gate<ReportingInvoke>(), gate()]
  const undone: string[] = []
  const handler = undoing(
    async (invoke: Invoke, record: RunnerRecord) => {
      begun.open(invoke as ReportingInvoke)
      await hold.opened
      return flow([run('charge', () => 'charged', { rollback: true })])(invoke, record)
    },
    { undo: step => void undone.push(step) },
  )
  return { handler, begun, hold, undone }
}

/** Opens a socket of a runner, and waits until both engines know the runner. */
async function connected(
  to: OpenEngine,
  { handler, engines }: Pick<ReturnType<typeof charging>, 'handler'> & { engines: readonly OpenEngine[] },
) {
  const app = unique('late')
  const client = await dial(to.url)
  client.serve({ [app]: handler }, new RunnerRecord())
  await client.register({ app, runner: 'r1', workflows: [app], features: ['cleanup'] })
  for (const { api } of engines)
    await until(async () => ((await api.get(`/runners?app=${app}`)).json as unknown[]).length > 0)
  return { app, client }
}

for (const [wire, env] of Object.entries(WIRES)) {
  describe(`two engines that hear each other through ${wire}`, async () => {
    const storeFile = await freshSchema()
    // The clock stands still, so no lease is found to be lost.
    const clock = new JumpClock()
    const open = () => openEngine({ storeFile, env, clock })
    const [one, two] = [await open(), await open()]

    test.each([
      ['one', 'one', one, one],
      ['one', 'two', one, two],
      ['two', 'one', two, one],
      ['two', 'two', two, two],
    ])(
      'a run of %s that is cancelled at %s: its runner at one hears it, and its answer counts',
      async (_, __, sender, canceller) => {
        const { handler, begun, hold, undone } = charging()
        const { app, client } = await connected(one, { handler, engines: [one, two] })
        const { runId } = await sender.api.send({ name: app })
        await begun.opened
        expect((await canceller.api.post(`/runs/${runId}/cancel`)).status).toBe(200)
        const { id } = await client.next('invoke')
        expect((await client.next('invoke.cancel')).id).toBe(id)
        hold.open()
        await cleanedUp(two, runId)
        expect(undone).toEqual(['charge'])
        expect(client.count('invoke.cancel')).toBe(1)
      },
    )

    test('over HTTP the call stays open when the run is cancelled at the engine that does not drive it', async () => {
      const { handler, begun, hold, undone } = charging()
      const [name, other] = [unique('late'), unique('other')]
      const workflows = { [name]: handler, [other]: () => hang }
      const runner = await new PlainRunner({ app: name, workflows }).listen()
      await runner.register(one.api, { features: ['cleanup', 'http-checkpoints'] })
      const { runId } = await one.api.send({ name })
      const { ctx } = await begun.opened
      const [driver, canceller] = ctx.checkpointUrl?.startsWith(one.url) ? [one, two] : [two, one]
      expect((await canceller.api.post(`/runs/${runId}/cancel`)).status).toBe(200)
      // The call of a run that is cancelled next is aborted. The message about the first cancel has then arrived too.
      const next = await driver.api.send({ name: other })
      const { signal } = (await until(() => runner.record.of(next.runId)[0])) as Invoke
      await canceller.api.post(`/runs/${next.runId}/cancel`, { cleanup: false })
      await until(() => signal.aborted, { what: 'the abort of the other call' })
      hold.open()
      await cleanedUp(one, runId)
      expect(undone).toEqual(['charge'])
    })
  })
}

describe('two engines that do not hear each other', async () => {
  const storeFile = await freshSchema()
  const clock = new JumpClock()
  const env = { ENGINE_QUEUE: 'memory' }
  const [one, two] = [await openEngine({ storeFile, env, clock }), await openEngine({ storeFile, env, clock })] as const

  test('a report after a cancel at the other one is stored, and ends the pass', async () => {
    const { handler, begun, hold, undone } = charging()
    const name = unique('late')
    const runner = await new PlainRunner({ app: name, workflows: { [name]: handler } }).listen()
    for (const { api } of [one, two]) await runner.register(api, { features: ['cleanup', 'http-checkpoints'] })
    const { runId } = await one.api.send({ name })
    const invoke = await begun.opened
    await two.api.post(`/runs/${runId}/cancel`)
    expect(await reportSteps(invoke, { opcodes: [CHARGED] })).toMatchObject({ status: 200, body: { stop: true } })
    hold.open()
    await cleanedUp(one, runId)
    expect(undone).toEqual(['charge'])
  })

  test('the lost lease tells the engine that drives the run, and its runner', async () => {
    const { handler, begun, hold, undone } = charging()
    clock.jump(2000)
    const { app, client } = await connected(one, { handler, engines: [one] })
    clock.jump(2000)
    const { runId } = await one.api.send({ name: app })
    await begun.opened
    await two.api.post(`/runs/${runId}/cancel`)
    clock.jump(5000)
    await client.next('invoke.cancel')
    hold.open()
    await cleanedUp(one, runId)
    expect(undone).toEqual(['charge'])
  })
})
