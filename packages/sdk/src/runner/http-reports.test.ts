// Passes of a runner over HTTP that report their steps to the engine: what is sent, and what the answer has when a report fails.

import { EngineList, hashStepId, type Opcode } from '@perdure/protocol'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type EngineServer, startEngine } from '../engine/engine-server.testkit.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { WorkflowArgs } from '../workflow/workflow.ts'
import { createHandler } from './handler.ts'
import { HttpReports } from './http-reports.ts'

let engine: EngineServer

afterEach(async () => {
  vi.useRealTimers()
  await engine.close()
})

const reply = { ok: true, runnerId: 'r', heartbeatMs: 1, staleAfterMs: 1, workflows: 1, protocolVersion: 1 } as never
const stored = (seq: number, ...names: string[]) => ({
  status: 200,
  body: { seq, steps: names.map(name => ({ id: hashStepId(name) })) },
})
const unavailable = { status: 503, body: { error: { code: 'unavailable' } } }
const refused = (status: number) => ({ status, body: { error: { code: 'gone' } } })

/** A runner whose passes report to the engine. */
function runnerOf(
  handler: (args: WorkflowArgs) => Promise<unknown>,
  reportsTo: string | null = engine.url,
  storedStepsMin = 0,
) {
  const workflows = [createWorkflow({ name: 'flow' }, handler)]
  const runner = createHandler({ app: 'tests', workflows, signingKey: [], log: () => undefined })
  runner.acknowledged(reply, reportsTo === null ? undefined : { engines: EngineList.of(reportsTo), storedStepsMin })
  return async (fields: object = { checkpointToken: 'to.ken' }, steps: object = {}) => {
    const features = ['attributes', 'http-checkpoints', 'running-steps']
    const ctx = { runId: 'run_1', workflow: 'flow', attempt: 1, app: 'tests', runner: '', features, ...fields }
    const rawBody = JSON.stringify({ event: { name: 'flow' }, steps, ctx })
    const { status, body } = await runner.handle({
      headers: { host: 'localhost', 'content-type': 'application/json' },
      rawBody,
      remoteAddress: '127.0.0.1',
    })
    return { status, body: JSON.parse(body) as { data?: unknown; opcodes?: Opcode[]; logs: { message: string }[] } }
  }
}

const names = (opcodes: Opcode[] = []) => opcodes.map(({ name }) => name)
const reported = () => engine.calls.map(({ body }) => body as { seq: number; opcodes: Opcode[]; logs: unknown[] })

/** Two steps; counts their callbacks. */
function twoSteps() {
  const calls: string[] = []
  const handler = async ({ step, ctx }: WorkflowArgs) => {
    ctx.logger.info('begin')
    ctx.attributes({ plan: 'pro' })
    const a = await step.run('a', () => calls.push('a'))
    ctx.logger.info('between')
    return a + (await step.run('b', () => calls.push('b')))
  }
  return { calls, handler }
}

test('a callback that runs for two seconds is told, also in a pass that reports no steps', async () => {
  engine = await startEngine(stored(1))
  const isTold = () => vi.waitFor(() => expect(engine.calls).toHaveLength(1), { timeout: 60_000 })
  const handler = ({ step }: WorkflowArgs) => step.run('a', () => isTold().then(() => null))
  const { status, body } = await runnerOf(handler, engine.url, 32)()
  expect(status).toBe(206)
  expect(names(body.opcodes)).toEqual(['a'])
  const told = { id: hashStepId('a'), name: 'a', startedMs: expect.any(Number) }
  expect(reported()).toEqual([{ seq: 1, opcodes: [], logs: [], running: [told] }])
})

test.each([
  { end: 'granted', reply: stored(1), granted: true },
  { end: 'refused', reply: refused(404), granted: false },
])('a request for another pass is repeated while the engine is unavailable, then $end', async ({ reply, granted }) => {
  engine = await startEngine(unavailable, reply)
  const reports = new HttpReports()
  reports.reachedAt({ engines: EngineList.of(engine.url), storedStepsMin: 0 })
  expect(await reports.ask({ ctx: { checkpointToken: 'to.ken' }, settled: 1 } as never)).toBe(granted)
  expect(engine.calls).toHaveLength(2)
})

describe('a pass with a token', () => {
  test('reports each step, and returns in its one answer', async () => {
    engine = await startEngine(stored(1, 'a'), stored(2, 'b'))
    const { calls, handler } = twoSteps()
    const { status, body } = await runnerOf(handler)()
    expect({ status, data: body.data, calls }).toEqual({ status: 200, data: 3, calls: ['a', 'b'] })
    expect(engine.calls.map(({ method, path }) => `${method} ${path}`)).toEqual(
      Array(2).fill('POST /invokes/to.ken/checkpoints'),
    )
    expect(reported()).toMatchObject([
      {
        seq: 1,
        opcodes: [{ op: 'StepRun', name: 'a', data: 1 }],
        attributes: { plan: 'pro' },
        logs: [{ message: 'begin' }],
      },
      { seq: 2, opcodes: [{ op: 'StepRun', name: 'b', data: 2 }], logs: [{ message: 'between' }] },
    ])
  })

  test('sends a report again when its answer is lost, and repeats no callback', async () => {
    engine = await startEngine('reset', unavailable, stored(1, 'a'), stored(2, 'b'))
    const { calls, handler } = twoSteps()
    expect((await runnerOf(handler)()).body.data).toBe(3)
    expect(calls).toEqual(['a', 'b'])
    const sent = reported()
    expect(sent[1]).toEqual(sent[0])
    expect(sent[2]).toEqual(sent[0])
  })

  test('answers with what was reported in vain: steps, lines and attributes', async () => {
    engine = await startEngine(stored(1, 'a'), unavailable)
    const calls: string[] = []
    const pass = runnerOf(async ({ step, ctx }) => {
      await step.run('a', () => calls.push('a'))
      ctx.logger.info('between')
      ctx.attributes({ plan: 'pro' })
      await Promise.all([step.run('b', () => calls.push('b')), step.sleep('nap', 1000)])
      await step.run('c', () => calls.push('c'))
    })
    const { status, body } = await pass()
    expect({ status, opcodes: names(body.opcodes), calls }).toEqual({
      status: 206,
      opcodes: ['nap', 'b'],
      calls: ['a', 'b'],
    })
    expect(body).toMatchObject({ attributes: { plan: 'pro' }, logs: [{ message: 'between' }] })
    const count = engine.calls.length
    // The engine is not tried again for a while: the next pass ends with its first step.
    expect(await pass()).toMatchObject({ status: 206, body: { opcodes: [{ name: 'a' }] } })
    expect(engine.calls).toHaveLength(count)
  })

  test.each([[400], [404], [410], [413]])('falls back to its answer at once after a %i', async status => {
    engine = await startEngine(refused(status))
    const { calls, handler } = twoSteps()
    const answer = await runnerOf(handler)()
    expect({ status: answer.status, opcodes: names(answer.body.opcodes), calls }).toEqual({
      status: 206,
      opcodes: ['a'],
      calls: ['a'],
    })
    expect(engine.calls).toHaveLength(1)
  })

  test('ends with a failed step that was reported in vain before its error', async () => {
    engine = await startEngine(refused(404))
    const pass = runnerOf(async ({ step }) => {
      const a = step.run('a', () => 1)
      await Promise.resolve()
      await a
      throw new Error('never reached')
    })
    expect(await pass()).toMatchObject({ status: 206, body: { opcodes: [{ name: 'a' }] } })
  })

  test('ends when the receipt asks for it', async () => {
    engine = await startEngine({ status: 200, body: { ...stored(1, 'a').body, stop: true } })
    const { calls, handler } = twoSteps()
    expect(await runnerOf(handler)()).toMatchObject({ status: 206, body: { opcodes: [] } })
    expect(calls).toEqual(['a'])
  })

  test('ends with its next step after 20 seconds', async () => {
    engine = await startEngine(stored(1, 'early'))
    vi.useFakeTimers({ toFake: ['performance'] })
    const { calls, handler } = twoSteps()
    const pass = runnerOf(async args => {
      await args.step.run('early', () => vi.advanceTimersByTime(19_000))
      vi.advanceTimersByTime(1_000)
      return handler(args)
    })
    const { status, body } = await pass()
    expect({ status, opcodes: names(body.opcodes), calls }).toEqual({ status: 206, opcodes: ['a'], calls: ['a'] })
    expect(names(reported()[0]?.opcodes)).toEqual(['early'])
    expect(engine.calls).toHaveLength(1)
  })
})

describe('a pass reports nothing', () => {
  test.each([
    ['without a token', {}, undefined],
    [
      'to an engine that it has not registered with',
      { checkpointToken: 'to.ken', checkpointUrl: 'http://127.0.0.1:1/' },
      'none',
    ],
  ])('%s', async (_, ctx, reportsTo) => {
    engine = await startEngine(stored(1, 'a'))
    const { handler } = twoSteps()
    const pass = runnerOf(handler, reportsTo === 'none' ? null : engine.url)
    expect(await pass(ctx)).toMatchObject({ status: 206, body: { opcodes: [{ name: 'a' }] } })
    expect(engine.calls).toEqual([])
  })

  test('while few steps of its run are stored', async () => {
    engine = await startEngine(stored(1, 'b'))
    const { handler } = twoSteps()
    const pass = runnerOf(handler, engine.url, 2)
    const token = { checkpointToken: 'to.ken' }
    const memo = { [hashStepId('a')]: { data: 1 } }
    expect(await pass(token, memo)).toMatchObject({ status: 206, body: { opcodes: [{ name: 'b' }] } })
    expect(engine.calls).toEqual([])
    const longer = { ...memo, [hashStepId('other')]: { data: 1 } }
    expect(await pass(token, longer)).toMatchObject({ status: 200 })
    expect(engine.calls).toHaveLength(1)
  })
})
