// Handlers that continue late, at two engines on one PostgreSQL database: any of them gives the run another pass
// (docs/wire-protocol.md#another-pass).

import { setTimeout as pause } from 'node:timers/promises'
import { createWorkflow } from '@perdure/sdk'
import { connect } from '@perdure/sdk/connect'
import { describe, expect, test } from 'vitest'
import { WIRES } from '../../kit/engine/cluster.ts'
import { discovered, freshSchema, type Invoke, onCleanup, opcode, openEngine, unique, until } from '../../kit/index.ts'
import { postReport } from '../../kit/runner/pass-reports.ts'
import { PlainRunner } from '../../kit/runner/plain-runner.ts'

const RUNS = 10

for (const [wire, env] of Object.entries(WIRES)) {
  describe(`two engines that hear each other through ${wire}`, async () => {
    const storeFile = await freshSchema()
    const [one, two] = [await openEngine({ storeFile, env }), await openEngine({ storeFile, env })]

    test('the one that did not send the pass takes the request over HTTP, as often as it comes', async () => {
      const name = unique('late')
      const workflows = { [name]: () => discovered([opcode('WaitForEvent', 'wait', { eventName: `${name}.go` })]) }
      const runner = await new PlainRunner({ app: name, workflows }).listen()
      await runner.register(one.api, { features: ['another-pass'] })
      const { runId } = await one.api.send({ name })
      await one.api.reaches(runId, 'waiting')
      const [{ ctx }] = runner.record.of(runId) as [Invoke]
      for (const { url } of [one, two]) {
        const path = `${url}/invokes/${ctx.checkpointToken}/checkpoints`
        expect(await postReport(path, '{"again":true,"settled":0}')).toMatchObject({ status: 200 })
      }
      await until(() => runner.record.of(runId).length > 1, { what: 'another pass' })
    })

    test('runs of a Connect runner at one of them go on, whichever engine drives them', {
      timeout: 60_000,
    }, async () => {
      const name = unique('late')
      const workflow = createWorkflow({ name }, async ({ event, step }) => {
        const { id } = event.data as { id: number }
        const wait = (which: string) =>
          step.waitForEvent(which, { event: `${name}.${which}`, if: `async.data.id == ${id}` })
        await Promise.race([wait('a'), wait('b')])
        await pause(5)
        return step.run('finish', () => 'done')
      })
      const common = { app: name, workflows: [workflow], engineUrl: one.url, signingKey: [], log: () => {} }
      const runner = connect({ ...common, handleSignals: false })
      onCleanup(() => runner.close())
      await runner.ready
      const api = (id: number) => (id % 2 === 0 ? one : two).api
      const ids = Array.from({ length: RUNS }, (_, id) => id)
      const runIds = await Promise.all(ids.map(async id => (await api(id).send({ name, data: { id } })).runId))
      for (const [id, runId] of runIds.entries()) await api(id).reaches(runId, 'waiting')
      await Promise.all(ids.map(id => api(id + 1).send({ name: `${name}.a`, data: { id } })))
      for (const runId of runIds) expect(await one.api.succeeded(runId)).toMatchObject({ result: 'done' })
    })
  })
}
