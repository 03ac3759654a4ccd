// Reports of runners over HTTP while their pass continues (docs/wire-protocol.md#checkpoints-over-http): over real sockets,
// from a runner that names the feature.

import { describe, expect } from 'vitest'
import {
  discovered,
  gate,
  type Handler,
  type Invoke,
  opcode,
  type Reply,
  returned,
  scenario,
  stepId,
  unique,
} from '../../kit/index.ts'
import { postReport, reportSteps } from '../../kit/runner/pass-reports.ts'
import { overHttp } from '../../kit/runner/runner.ts'

const { api, engine } = await scenario({ realTime: true })
const FEATURES = { features: ['http-checkpoints', 'attributes'] }
const ran = (name: string, data: unknown = name) => opcode('StepRun', name, { data })
const names = async (runId: string) => (await api.steps(runId)).map(({ name }) => name)
const forHttp = overHttp('a socket carries its checkpoints itself')

/** Starts a run with `work` as its passes. */
async function start(work: (invoke: Invoke) => Promise<Reply> | Reply, features: object = FEATURES, registration = {}) {
  const name = unique('reporting')
  const handler: Handler = invoke => work(invoke as Invoke)
  const runner = await engine.runner({ workflows: { [name]: { handler, registration } } })
  await runner.register(api, features as Record<string, unknown>)
  const { runId } = await api.send({ name })
  return { runId, invokes: () => runner.record.of(runId) as Invoke[] }
}

describe('a runner that names the feature', () => {
  forHttp('gets a token and the URL for it with each invoke, and the other runners get none', async () => {
    const { runId, invokes } = await start(({ steps }) => (stepId('a') in steps ? returned() : discovered([ran('a')])))
    await api.succeeded(runId)
    const [first, second] = invokes().map(({ ctx }) => ctx)
    expect(first?.checkpointToken).toMatch(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{32}$/)
    expect(first?.checkpointUrl).toBe(`${engine.url}/invokes/${first?.checkpointToken}/checkpoints`)
    expect(second?.checkpointToken).not.toBe(first?.checkpointToken)
    const other = await start(() => returned(), {})
    await api.succeeded(other.runId)
    expect(other.invokes()[0]?.ctx).not.toHaveProperty('checkpointToken')
    expect(other.invokes()[0]?.ctx).not.toHaveProperty('checkpointUrl')
  })

  forHttp('reports steps that are durable while its pass goes on, and needs no other pass', async () => {
    const [reported, go] = [gate(), gate()]
    const { runId, invokes } = await start(async invoke => {
      const line = { level: 'info', message: 'one', scope: '@root', index: 0 }
      const report = { opcodes: [ran('a', 1)], logs: [line], attributes: { plan: 'pro' } }
      expect(await reportSteps(invoke, report)).toMatchObject({
        status: 200,
        body: { seq: 1, steps: [{ id: stepId('a') }] },
      })
      const parks = opcode('Sleep', 'nap', { sleepMs: 3_600_000 })
      const { body } = await reportSteps(invoke, { seq: 2, opcodes: [ran('b', 2), parks] })
      expect(body).toEqual({ seq: 2, steps: [{ id: stepId('b') }, { id: stepId('nap'), pending: true }] })
      reported.open()
      await go.opened
      return returned('done')
    })
    await reported.opened
    expect(await names(runId)).toEqual(['a', 'b', 'nap'])
    expect(await api.run(runId)).toMatchObject({ status: 'running', attributes: { plan: 'pro' } })
    go.open()
    expect(await api.succeeded(runId)).toMatchObject({ result: 'done', attempt: 1 })
    expect((await api.logs(runId)).map(({ message }) => message)).toEqual(['one'])
    expect(invokes()).toHaveLength(1)
  })

  forHttp('goes on with its pass after a report that cannot be read', async () => {
    const seen: [number, string][] = []
    const { runId } = await start(async invoke => {
      const { checkpointUrl: url } = invoke.ctx as { checkpointUrl: string }
      const bodies = ['', '{', '[]', 'null', '{"opcodes":[]}', '{"seq":0,"opcodes":[]}', '{"seq":1}']
      const bad = [...bodies, `{"seq":1,"opcodes":[{"op":"Dance","id":"a","name":"a"}]}`, new Uint8Array([34, 255, 34])]
      for (const body of bad) {
        const { status, body: answer } = await postReport(url, body)
        seen.push([status, answer.error.code])
      }
      expect((await reportSteps(invoke, { opcodes: [ran('a')] })).status).toBe(200)
      return returned('done')
    })
    expect(await api.succeeded(runId)).toMatchObject({ result: 'done' })
    expect(seen.map(([status]) => status)).toEqual(Array(9).fill(400))
    expect(seen.slice(0, 3).map(([, code]) => code)).toEqual(['invalid_json', 'invalid_json', 'invalid_request'])
    expect(new Set(seen.map(([, code]) => code))).toEqual(new Set(['invalid_request', 'invalid_json']))
  })

  forHttp('fails its run with a report that breaks a rule, and the token is void', async () => {
    const { runId } = await start(async invoke => {
      expect(
        await reportSteps(invoke, {
          opcodes: [opcode('StepRun', 'a', { error: { message: 'no' }, retriable: false })],
        }),
      ).toMatchObject({
        status: 410,
        body: { error: { code: 'gone' } },
      })
      return returned()
    })
    expect((await api.failed(runId)).error).toMatchObject({ code: 'step_failed', stepName: 'a' })
  })

  forHttp('keeps its pass alive by its reports, beyond the deadline of the invoke', async () => {
    const registration = { timeouts: { invoke: '1s' } }
    const { runId, invokes } = await start(
      async invoke => {
        // Together longer than the deadline, but each short enough that a busy machine meets it.
        for (let seq = 1; seq <= 12; seq++) {
          await new Promise(resolve => setTimeout(resolve, 100))
          await reportSteps(invoke, { seq, opcodes: [ran(`s${seq}`)] })
        }
        return returned()
      },
      FEATURES,
      registration,
    )
    await api.succeeded(runId)
    expect(invokes()).toHaveLength(1)
  })
})

describe('a token', () => {
  forHttp('dies with its pass', async () => {
    const { runId, invokes } = await start(({ steps }) => (stepId('a') in steps ? returned() : discovered([ran('a')])))
    await api.succeeded(runId)
    for (const invoke of invokes()) {
      expect(await reportSteps(invoke, { opcodes: [ran('late')] })).toMatchObject({
        status: 410,
        body: { error: { code: 'gone' } },
      })
    }
    expect(await names(runId)).toEqual(['a'])
  })

  forHttp('dies with its run, also while the runner still works', async () => {
    const [reached, cancelled] = [gate<Invoke>(), gate()]
    const { runId } = await start(async invoke => {
      reached.open(invoke)
      await cancelled.opened
      return returned()
    })
    const invoke = await reached.opened
    await api.post(`/runs/${runId}/cancel`)
    await api.reaches(runId, 'cancelled')
    expect((await reportSteps(invoke, { opcodes: [ran('late')] })).status).toBe(410)
    cancelled.open()
    expect(await names(runId)).toEqual([])
  })

  forHttp('that is forged is refused, and none is in a log, an error or a read', async () => {
    const [reached, go] = [gate<Invoke>(), gate()]
    const { runId } = await start(async invoke => {
      reached.open(invoke)
      await go.opened
      return returned()
    })
    const { checkpointToken: token } = (await reached.opened).ctx as { checkpointToken: string }
    const [head, signature] = token.split('.') as [string, string]
    const otherHead = Buffer.from(`${Buffer.from(head, 'base64url')}0`).toString('base64url')
    const flipped = signature.replace(/^./, first => (first === 'A' ? 'B' : 'A'))
    const longHead = Buffer.from(`${'e'.repeat(2000)} 1 run_1`).toString('base64url')
    const withOthers = [otherHead, longHead].map(other => `${other}.${signature}`)
    const forged = ['x', '.', head, `${head}.`, `${head}.${flipped}`, ...withOthers, `${token}A`, `${token}.A`]
    for (const one of forged) {
      const url = `${engine.url}/invokes/${one}/checkpoints`
      const answer = await postReport(url, JSON.stringify({ seq: 1, opcodes: [ran('forged')] }))
      expect([one, answer.status, answer.body.error.code]).toEqual([one, 404, 'not_found'])
    }
    const unread = await postReport(`${engine.url}/invokes/${token}/checkpoints`, '{')
    expect(unread.text).not.toContain(signature)
    const reads = await Promise.all(
      [`/runs/${runId}`, `/runs/${runId}/passes`, `/runs/${runId}/bundle`].map(path => api.get(path)),
    )
    for (const { text } of reads) expect(text).not.toContain(signature)
    go.open()
    await api.succeeded(runId)
    expect(await names(runId)).toEqual([])
    expect(engine.log.join('\n')).not.toContain(signature)
  })
})
