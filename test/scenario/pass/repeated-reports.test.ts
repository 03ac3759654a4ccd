// Reports of steps that come again, late or out of order, over both ways in which a runner reports during its pass
// (docs/wire-protocol.md#checkpoints): the seq decides whether a report is a repeat, not its content.

import { describe, expect, test } from 'vitest'
import { discovered, opcode, returned, scenario, stepId, unique } from '../../kit/index.ts'
import { reportSteps } from '../../kit/runner/pass-reports.ts'
import { type Ack, answeredWith, type ScriptedPass, ScriptedTransport } from '../../kit/runner/scripted-transport.ts'
import type { Opcode } from '../../kit/runner/wire.ts'

const transport = new ScriptedTransport()
const { api } = await scenario({ ports: { transport } })

const ran = (name: string, data: unknown = name) => opcode('StepRun', name, { data })
const done = answeredWith(returned('done') as { status: number })
const nothingMore = answeredWith(discovered([]) as { status: number })
const names = async (runId: string) => (await api.steps(runId)).map(({ name }) => name)

type Report = (seq: number, ...opcodes: Opcode[]) => Promise<Ack | undefined>

const WAYS: Record<string, (pass: ScriptedPass) => Report> = {
  'as over Connect':
    ({ checkpoint }) =>
    (seq, ...opcodes) =>
      checkpoint(opcodes, { seq }),
  'over HTTP':
    ({ request }) =>
    async (seq, ...opcodes) => {
      const { status, body } = await reportSteps(request, { seq, opcodes })
      expect(status).toBe(200)
      return body
    },
}

describe.each(Object.entries(WAYS))('a report %s', (_, way) => {
  /** Starts a run whose first pass is `work`. Later passes return. */
  async function start(work: (report: Report) => Promise<unknown>, end = done): Promise<string> {
    const name = unique('repeated')
    transport.scripts.set(name, async pass => {
      if (pass.no > 1) return done
      await work(way(pass))
      return end
    })
    const registration = {
      app: name,
      url: 'http://127.0.0.1:9/',
      features: ['http-checkpoints'],
      workflows: [{ name }],
    }
    expect((await api.post('/register', registration)).status).toBe(200)
    return (await api.send({ name })).runId
  }

  test('that comes again gets the same ack, whatever is in it, and nothing of it is stored', async () => {
    const event = unique('told')
    const runId = await start(async report => {
      const first = await report(1, ran('a', 1), opcode('Emit', 'tell', { eventName: event }))
      const second = [ran('a', 2), ran('smuggled'), opcode('Emit', 'again', { eventName: event })]
      expect(await report(1, ...second)).toEqual(first)
      expect(await report(1)).toEqual(first)
    })
    await api.succeeded(runId)
    expect(await names(runId)).toEqual(['a', 'tell'])
    expect(await api.step(runId, 'a')).toMatchObject({ data: 1 })
  })

  test('that comes again after newer ones stores nothing either, and names its steps as they are', async () => {
    const runId = await start(async report => {
      await report(1, ran('a', 1))
      await report(2, ran('b', 2))
      expect(await report(1, ran('a', 5), ran('smuggled'))).toEqual({ seq: 1, steps: [{ id: stepId('a'), data: 1 }] })
      expect(await report(3, ran('c', 3))).toEqual({ seq: 3, steps: [{ id: stepId('c') }] })
    })
    await api.succeeded(runId)
    expect(await names(runId)).toEqual(['a', 'b', 'c'])
  })

  test('that others have overtaken is stored', async () => {
    const runId = await start(async report => {
      await report(2, ran('b', 2))
      expect(await report(1, ran('a', 1))).toEqual({ seq: 1, steps: [{ id: stepId('a') }] })
    })
    await api.succeeded(runId)
    expect(await names(runId)).toEqual(['b', 'a'])
  })

  test('that comes again hides nothing that has settled since', async () => {
    const event = unique('paid')
    const wait = opcode('WaitForEvent', 'payment', { eventName: event, timeoutMs: 3_600_000 })
    const runId = await start(async report => {
      await report(1, wait)
      const ack = await report(2, ran('b'))
      await api.send({ name: event })
      expect(await report(2, ran('b'))).toEqual(ack)
      expect(await report(1, wait)).toEqual({ seq: 1, steps: [{ id: stepId('payment'), pending: true }] })
    }, nothingMore)
    await api.succeeded(runId)
    expect(Object.keys(transport.passes.get(runId)?.[1]?.request.steps ?? {})).toEqual(['b', 'payment'].map(stepId))
  })
})
