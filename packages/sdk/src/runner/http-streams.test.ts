// Output streams of a runner over HTTP: what the callbacks of a pass send to the engine, and how its answers end their steps.

import { EngineList, hashStepId, type Opcode } from '@perdure/protocol'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type EngineServer, startEngine } from '../engine/engine-server.testkit.ts'
import { deferred } from '../run/deferred.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { WorkflowArgs } from '../workflow/workflow.ts'
import { createHandler } from './handler.ts'

let engine: EngineServer

afterEach(async () => {
  vi.useRealTimers()
  await engine.close()
})

const reply = { ok: true, runnerId: 'r', heartbeatMs: 1, staleAfterMs: 1, workflows: 1, protocolVersion: 1 } as never
const stored = { status: 200, body: {} }
const refused = (status: number, message = 'no') => ({ status, body: { error: { code: 'x', message } } })
const features = ['streams']
const token = { checkpointToken: 'to.ken' }

interface Answer {
  status: number
  opcodes: (Opcode & { data?: unknown; error?: { name: string; message: string }; retriable?: boolean })[]
  logs: { message: string; scope: string }[]
}

/** One pass of a runner over HTTP that has registered, unless `isRegistered` is false. */
function passOf(handler: (args: WorkflowArgs) => unknown, fields: object = token, isRegistered = true) {
  return runnerOf(handler, isRegistered)(fields)
}

function runnerOf(handler: (args: WorkflowArgs) => unknown, isRegistered = true): (fields?: object) => Promise<Answer> {
  const workflows = [createWorkflow({ name: 'flow' }, handler)]
  const runner = createHandler({ app: 'tests', workflows, signingKey: [], log: () => undefined })
  // Too few stored steps for checkpoints, which streams do not need.
  if (isRegistered) runner.acknowledged(reply, { engines: EngineList.of(engine.url), storedStepsMin: undefined })
  return async (fields = token) => {
    const ctx = { runId: 'run_1', workflow: 'flow', attempt: 1, app: 'tests', runner: '', features, ...fields }
    const { status, body } = await runner.handle({
      headers: { host: 'localhost', 'content-type': 'application/json' },
      rawBody: JSON.stringify({ event: { name: 'flow' }, steps: {}, ctx }),
      remoteAddress: '127.0.0.1',
    })
    return { status, ...JSON.parse(body) }
  }
}

const writes = ({ step }: WorkflowArgs) =>
  step.run('ask', async ({ stream }) => {
    const out = stream('answer')
    await out.write('Hel')
    await out.write('lo')
    return out.text()
  })
const calls = () => engine.calls.map(({ method, path, body }) => ({ call: `${method} ${path}`, body }))
const append = (seq: number, ...chunks: unknown[]) => ({
  call: 'POST /invokes/to.ken/streams/answer',
  body: { stepId: hashStepId('ask'), step: 'ask', name: 'answer', seq, chunks },
})

test('the chunks of a step are stored before its result is reported', async () => {
  engine = await startEngine(stored)
  const { status, opcodes } = await passOf(writes)
  expect({ status, opcodes }).toMatchObject({ status: 206, opcodes: [{ name: 'ask', data: 'Hello' }] })
  expect(calls()).toEqual([append(1, 'Hel', 'lo')])
})

test('a runner that has not registered goes by the URL of the invoke', async () => {
  engine = await startEngine(stored)
  const checkpointUrl = `${engine.url}/invokes/to.ken/checkpoints`
  await passOf(writes, { ...token, checkpointUrl }, false)
  expect(calls()).toEqual([append(1, 'Hel', 'lo')])
})

test('one request of a stream is under way; what comes meanwhile is the next one', async () => {
  engine = await startEngine('hang')
  await passOf(({ step }) =>
    step.run('ask', async ({ stream }) => {
      await stream('answer').write('a')
      void stream('answer').flush()
      await stream('answer').write('b')
      void stream('answer').flush()
      void stream('other').write(1)
      await engine.called(2)
      throw new Error('enough')
    }),
  )
  expect(engine.calls.map(({ body }) => (body as { name: string; chunks: unknown[] }).chunks)).toEqual([['a'], [1]])
})

test('the second use of a name, an item of a map and parallel steps have their own numbers', async () => {
  engine = await startEngine(stored)
  await passOf(({ step }) => {
    const write = ({ stream }: { stream: (name: string) => { write(chunk: unknown): Promise<void> } }) =>
      stream('answer').write(1)
    return Promise.all([
      step.run('ask', write),
      step.run('ask', write),
      step.map('each', ['x'], (_item, _index, context) => write(context)),
    ])
  })
  const sent = engine.calls.map(({ body }) => body as { step: string; seq: number; stepId: string })
  expect(sent.map(({ step, seq }) => `${step} ${seq}`).sort()).toEqual(['ask 1', 'ask:1 1', 'each:0 1'])
  expect(sent.every(({ step, stepId }) => stepId === hashStepId(step))).toBe(true)
})

describe('an append', () => {
  test('is sent again without an answer, and after 404, 429 and 503', async () => {
    engine = await startEngine('reset', refused(404), refused(429), refused(503), stored)
    const { opcodes } = await passOf(writes)
    expect(opcodes).toMatchObject([{ data: 'Hello' }])
    expect(calls()).toEqual(Array(5).fill(append(1, 'Hel', 'lo')))
  })

  test.each([
    { status: 413, name: 'StreamLimitError', retriable: false },
    { status: 400, name: 'NonRetriableError', retriable: false },
    { status: 409, name: 'Error', retriable: undefined },
  ])('that is refused with $status fails the step', async ({ status, name, retriable }) => {
    engine = await startEngine(refused(status, 'the bound of the engine'))
    const { opcodes } = await passOf(writes)
    expect(opcodes).toMatchObject([
      { name: 'ask', error: { name, message: expect.stringContaining('the bound of the engine') } },
    ])
    expect(opcodes[0]?.retriable).toBe(retriable)
    expect(engine.calls).toHaveLength(1)
  })

  test('of a pass that is over aborts the step', async () => {
    engine = await startEngine(refused(410))
    const seen: unknown[] = []
    await passOf(({ step }) =>
      step.run('ask', async ({ stream, signal }) => {
        const out = stream('answer')
        await out.write('a')
        await out.flush().catch(error => seen.push(error, signal.aborted))
        await out.write('b').catch(error => seen.push(error))
      }),
    )
    expect(seen).toEqual([expect.any(Error), true, seen[0]])
    expect(engine.calls).toHaveLength(1)
  })

  test('of a step that was settled by hand leaves the others of the pass alone', async () => {
    engine = await startEngine(refused(410))
    const over = deferred()
    const { opcodes } = await passOf(({ step }) =>
      Promise.all([
        step.run('ask', async ({ stream }) => {
          await stream('answer').write('a')
          await stream('answer').flush().catch(over.resolve)
        }),
        step.run('other', async ({ signal }) => {
          await over.promise
          return signal.aborted
        }),
      ]),
    )
    expect(opcodes).toContainEqual(expect.objectContaining({ name: 'other', data: false }))
  })

  test('of a run that was cancelled leaves a result of its step, which can be undone', async () => {
    engine = await startEngine(refused(410))
    expect((await passOf(writes)).opcodes).toMatchObject([{ name: 'ask', data: 'Hello' }])
  })

  test('that no engine takes for 30 s fails the step, which is tried again', async () => {
    engine = await startEngine(refused(503))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const pass = passOf(writes)
    await engine.called(1)
    await vi.advanceTimersByTimeAsync(30_000)
    vi.useRealTimers()
    const { opcodes } = await pass
    expect(opcodes).toMatchObject([{ error: { name: 'StreamUnavailableError' } }])
    expect(opcodes[0]).not.toHaveProperty('retriable')
  })
})

test('the time of a pass begins again with each append that is stored', async () => {
  engine = await startEngine(stored)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const { opcodes } = await passOf(
    ({ step }) =>
      step.run('ask', async ({ stream }) => {
        for (const chunk of ['a', 'b', 'c']) {
          await stream('answer').write(chunk)
          await stream('answer').flush()
          await vi.advanceTimersByTimeAsync(800)
        }
        return 'done'
      }),
    { ...token, invokeTimeoutMs: 1_000 },
  )
  expect(opcodes).toMatchObject([{ data: 'done' }])
})

test('the late result of an attempt that has written is not taken: its chunks were withdrawn', async () => {
  engine = await startEngine(stored)
  const [begun, late] = [deferred(), deferred()]
  let executions = 0
  const pass = runnerOf(({ step }) =>
    step.run(
      'ask',
      async ({ stream }) => {
        const execution = ++executions
        await stream('answer').write(execution)
        await stream('answer').flush()
        begun.resolve()
        if (execution === 1) await late.promise
        return execution
      },
      { timeout: 1_000 },
    ),
  )
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const first = pass()
  await begun.promise
  await vi.advanceTimersByTimeAsync(1_000)
  expect((await first).opcodes).toMatchObject([{ error: { name: 'StepTimeoutError' } }])
  const second = pass()
  await new Promise(setImmediate)
  late.resolve()
  expect((await second).opcodes).toMatchObject([{ data: 2 }])
})

describe('chunks are dropped, with a warning, and the step goes on', () => {
  beforeEach(async () => {
    engine = await startEngine(stored)
  })

  test.each([
    { because: 'the engine does not know streams', fields: { ...token, features: [] }, says: '(streams)' },
    { because: 'the engine gives no token', fields: {}, says: 'does not know where its engine is' },
  ])('$because', async ({ fields, says }) => {
    const { opcodes, logs } = await passOf(
      ({ step }) =>
        step.run('ask', async ({ stream }) => {
          const all = await stream('answer').pipe(['Hel', 'lo'])
          await stream('answer').flush()
          await stream('other').write(1)
          return { all, text: stream('answer').text() }
        }),
      fields,
    )
    expect(opcodes).toMatchObject([{ data: { all: ['Hel', 'lo'], text: 'Hello' } }])
    expect(logs).toMatchObject([{ scope: '@replay', message: expect.stringContaining(says) }])
    expect(engine.calls).toEqual([])
  })

  test('a chunk beyond a bound fails it all the same', async () => {
    const { opcodes } = await passOf(
      ({ step }) => step.run('ask', ({ stream }) => stream('answer').write('x'.repeat(65_536))),
      { features: [] },
    )
    expect(opcodes).toMatchObject([{ error: { name: 'StreamLimitError' }, retriable: false }])
  })
})

describe('a step that has ended', () => {
  test('sends nothing more, and its streams take no more chunks', async () => {
    engine = await startEngine(stored)
    let late: Promise<unknown> | undefined
    const { opcodes } = await passOf(({ step }) =>
      step.run('ask', ({ stream }) => {
        const out = stream('answer')
        void out.write('never sent')
        late = new Promise(resolve => setImmediate(() => out.write('b').catch(resolve)))
        throw new Error('the callback failed')
      }),
    )
    expect(opcodes).toMatchObject([{ error: { message: 'the callback failed' } }])
    expect(await late).toMatchObject({ message: 'Step "ask" has ended: its streams take no more chunks' })
    expect(engine.calls).toEqual([])
  })

  test('by its timeout sends nothing more', async () => {
    engine = await startEngine('hang')
    const { opcodes } = await passOf(({ step }) =>
      step.run('ask', ({ stream }) => stream('answer').write('a'), { timeout: 10 }),
    )
    expect(opcodes).toMatchObject([{ error: { name: 'StepTimeoutError' } }])
  })
})
