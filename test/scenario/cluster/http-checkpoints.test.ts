// Reports of runners over HTTP that reach another engine than the one that sent the pass: it accepts them for that engine
// (docs/wire-protocol.md#checkpoints-over-http).

import { describe, expect, test } from 'vitest'
import { WIRES } from '../../kit/engine/cluster.ts'
import {
  freshSchema,
  gate,
  type Invoke,
  opcode,
  openEngine,
  PlainRunner,
  returned,
  stepId,
  unique,
  until,
} from '../../kit/index.ts'
import { type ReportingInvoke, reportSteps } from '../../kit/runner/pass-reports.ts'

const ran = (name: string, data: unknown = name) => opcode('StepRun', name, { data })

for (const [wire, env] of Object.entries(WIRES)) {
  describe(`two engines that hear each other through ${wire}`, async () => {
    const storeFile = await freshSchema()
    const open = () => openEngine({ storeFile, env })
    const one = await open()
    let two = await open()

    /** A pass under way, and its end. `elsewhere`: an address that takes its token to an engine that did not send the pass. */
    async function underWay() {
      const [reached, go] = [gate<ReportingInvoke>(), gate()]
      const name = unique('reporting')
      const handler = async (invoke: Invoke) => {
        reached.open(invoke as ReportingInvoke)
        await go.opened
        return returned('done')
      }
      const runner = await new PlainRunner({ app: name, workflows: { [name]: handler as never } }).listen()
      await runner.register(one.api, { features: ['http-checkpoints'] })
      const { runId } = await one.api.send({ name })
      const invoke = await reached.opened
      const { checkpointToken: token, checkpointUrl: url } = invoke.ctx as Required<ReportingInvoke['ctx']>
      const other = url.startsWith(one.url) ? two : one
      return { runId, invoke, end: () => go.open(), elsewhere: `${other.url}/invokes/${token}/checkpoints`, other }
    }

    test('a report to the other one is stored by the one that sent the pass', async () => {
      const { runId, invoke, end, elsewhere } = await underWay()
      const long = 'ä€'.repeat(100_000)
      const first = await reportSteps(invoke, { opcodes: [ran('a', long)] }, elsewhere)
      expect(first).toMatchObject({ status: 200, body: { seq: 1, steps: [{ id: stepId('a') }] } })
      expect((await reportSteps(invoke, { opcodes: [ran('a', 2)] })).text).toBe(first.text)
      expect((await reportSteps(invoke, { seq: 2, opcodes: [{ ...ran('b'), op: 'Dance' }] }, elsewhere)).status).toBe(
        400,
      )
      expect((await reportSteps(invoke, { seq: 2, opcodes: [ran('b')] }, elsewhere)).status).toBe(200)
      end()
      await one.api.succeeded(runId)
      expect(await one.api.step(runId, 'a')).toMatchObject({ data: long })
      expect(await reportSteps(invoke, { seq: 3, opcodes: [ran('late')] }, elsewhere)).toMatchObject({
        status: 410,
        body: { error: { code: 'gone' } },
      })
      expect((await one.api.steps(runId)).map(({ name }) => name)).toEqual(['a', 'b'])
    })

    test('steps that run are known at both', async () => {
      const { runId, invoke, end, elsewhere, other } = await underWay()
      const running = [{ id: stepId('charge'), name: 'charge', startedMs: 0 }]
      expect((await reportSteps(invoke, { running }, elsewhere)).status).toBe(200)
      for (const { api } of [one, two]) {
        expect(await api.steps(runId)).toMatchObject([{ name: 'charge', status: 'running' }])
        expect((await api.get(`/runs/${runId}/steps/${stepId('charge')}`)).json).toMatchObject({ status: 'running' })
        expect(await api.run(runId)).toMatchObject({ currentStepName: 'charge' })
      }
      const { over } = await other.api.follow(`/stream?topics=run:${runId}`, {
        stopWhen: messages => messages.some(({ data }) => data.currentStepName === 'notify'),
      })
      const notify = [{ id: stepId('notify'), name: 'notify', startedMs: 0 }]
      let seq = 1
      // The stream may begin to follow a moment after it opens.
      await until(async () => {
        await reportSteps(invoke, { seq: ++seq, running: notify })
        return Promise.race([over.then(() => true), new Promise<false>(resolve => setTimeout(resolve, 50, false))])
      })
      end()
      await one.api.succeeded(runId)
    })

    test('a token of an engine that has stopped is void', async () => {
      const pass = await underWay()
      const [stopped, left] = pass.other === one ? [two, one] : [one, two]
      const stopping = stopped.stop()
      let seq = 0
      const report = () => reportSteps(pass.invoke, { seq: ++seq, opcodes: [ran(`step ${seq}`)] }, pass.elsewhere)
      await until(async () => (await report()).body.stop === true, { what: 'a receipt that ends the pass' })
      await stopping
      const late = await report()
      expect(late.status).toBe(410)
      pass.end()
      await left.api.succeeded(pass.runId)
      if (stopped === two) two = await open()
    })
  })
}
