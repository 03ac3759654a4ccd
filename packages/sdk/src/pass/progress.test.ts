// `ctx.progress` and `ctx.attributes`: which values a pass reports, when, and which it leaves out.

import { hashStepId, type MemoEntry, type Opcode, positionalStepId, type RunnerLogLine } from '@perdure/protocol'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { deferred } from '../run/deferred.ts'
import { createHandler } from '../runner/handler.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { WorkflowArgs } from '../workflow/workflow.ts'
import type { Checkpointer, CheckpointReport } from './checkpoints.ts'

interface PassOptions {
  steps?: Record<string, MemoEntry>
  features?: string[]
  checkpoint?: Checkpointer
}

async function pass(handler: (args: WorkflowArgs) => unknown, options: PassOptions = {}) {
  const { steps = {}, features = ['attributes'], checkpoint } = options
  const workflow = createWorkflow({ name: 'flow' }, handler as (args: WorkflowArgs) => Promise<unknown>)
  const ctx = { runId: 'run_1', workflow: 'flow', attempt: 1, app: 'tests', runner: '', features }
  const { status, body } = await createHandler({
    app: 'tests',
    workflows: [workflow],
    signingKey: [],
    log: () => {},
  }).invoke({ event: { name: 'flow' }, steps, ctx }, { checkpoint })
  type Body = { progress?: unknown; logs: RunnerLogLine[]; opcodes?: Opcode[]; error?: { message: string } }
  return { status, ...(JSON.parse(body) as Body) }
}

const memo = (...names: string[]) =>
  Object.fromEntries(names.map(name => [hashStepId(positionalStepId(name, 0)), { data: 1 }]))

/** Takes reports as an engine does, and keeps the progress and the number of steps of each. */
function recorder() {
  const reports: { progress?: unknown; steps: number }[] = []
  const checkpoint = async ({ opcodes, fields = '' }: CheckpointReport) => {
    const reported = JSON.parse(opcodes) as Opcode[]
    reports.push({ ...JSON.parse(`{"_":0${fields}}`), _: undefined, steps: reported.length })
    return { steps: reported.map(({ id }) => ({ id })) }
  }
  return { reports, checkpoint }
}

const stages = async ({ ctx, step }: WorkflowArgs) => {
  ctx.progress({ done: 0 })
  await step.run('a', () => ctx.progress('in a'))
  ctx.progress({ done: 1 })
  await step.run('b', () => 1)
  ctx.progress({ done: 2 })
}

describe('the answer of a pass', () => {
  test('has the newest value, also of a callback, and those that a replay repeats are left out', async () => {
    expect(await pass(stages)).toMatchObject({ status: 206, progress: 'in a' })
    expect(await pass(stages, { steps: memo('a') })).toMatchObject({ status: 206, progress: { done: 1 } })
    expect(await pass(stages, { steps: memo('a', 'b') })).toMatchObject({ status: 200, progress: { done: 2 } })
    const repeating = await pass(
      async ({ ctx, step }) => {
        ctx.progress(1)
        await step.run('a', () => 1)
      },
      { steps: memo('a') },
    )
    expect(repeating).not.toHaveProperty('progress')
  })

  test('has it too when the handler threw', async () => {
    const threw = await pass(({ ctx }) => {
      ctx.progress('nearly')
      throw new Error('no')
    })
    expect(threw).toMatchObject({ status: 500, progress: 'nearly' })
  })

  test('to an engine that does not know progress has none, and a log line says so', async () => {
    const { progress, logs } = await pass(({ ctx }) => ctx.progress(1), { features: [] })
    expect(progress).toBeUndefined()
    expect(logs[0]?.message).toContain('ctx.progress')
  })
})

test.each([
  [undefined, 'must be JSON, and not null'],
  [null, 'must be JSON, and not null'],
  [() => 1, 'cannot be stored as JSON'],
  [{ n: 1n }, 'BigInt'],
  ['x'.repeat(16 * 1024 - 1), '16385 bytes of JSON; the maximum is 16384'],
  ['€'.repeat(6000), '18002 bytes'],
])('the progress %s is left out with a warning, and the run goes on', async (value, problem) => {
  const { status, progress, logs } = await pass(({ ctx }) => {
    for (const one of ['before', value, value]) ctx.progress(one)
  })
  expect([status, progress]).toEqual([200, 'before'])
  expect(logs.map(({ level, scope, index }) => [level, scope, index])).toContainEqual(['warn', '@replay', 5])
  expect(logs[0]?.message).toContain('ctx.progress')
  expect(logs[0]?.message).toContain(problem)
  expect(logs[0]?.message).toContain('the run continues')
})

test.each<[string, Record<string, unknown>, string]>([
  ['a value over 256 characters', { a: '😀'.repeat(257) }, '"a" has 257 characters; the maximum is 256'],
  ['a value that is no scalar', { a: [1] }, '"a" must be a string, a finite number'],
  ['a number that loses digits', { a: 2 ** 53 }, '"a" is beyond 2^53 - 1, where numbers lose digits'],
  ['a value that is no number', { a: Number.NaN }, '"a" must be a string, a finite number'],
  ['a key with a space', { 'a b': 1 }, '"a b" is not a valid key'],
  [
    'one more than 32',
    Object.fromEntries(Array.from({ length: 32 }, (_, i) => [`a${i}`, i])),
    '"a31" exceeds the limit',
  ],
])('the attribute with %s is left out with a warning, and the run goes on', async (_, attributes, problem) => {
  const reported = await pass(({ ctx }) => {
    ctx.attributes({ kept: 1, ...(attributes as Record<string, number>) })
  })
  expect(reported).toMatchObject({ status: 200, attributes: { kept: 1 } })
  expect(reported.logs).toMatchObject([{ level: 'warn', scope: '@replay', index: 6 }])
  expect(reported.logs[0]?.message).toContain(problem)
})

describe('with checkpoints', () => {
  test('it is reported while a step runs, at most five times a second, and the last always', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { reports, checkpoint } = recorder()
    const held = deferred()
    const values = () => reports.map(({ progress }) => progress)
    let report: (value: unknown) => void = () => {}
    const ended = pass(
      async ({ ctx, step }) => {
        await step.run('long', () => {
          report = ctx.progress
          return held.promise
        })
      },
      { checkpoint },
    )
    await vi.advanceTimersByTimeAsync(0)
    for (const value of [1, 2, 3]) report(value)
    await vi.advanceTimersByTimeAsync(0)
    expect(values()).toEqual([3])
    for (const value of [4, 5]) report(value)
    await vi.advanceTimersByTimeAsync(199)
    expect(values()).toEqual([3])
    await vi.advanceTimersByTimeAsync(1)
    expect(values()).toEqual([3, 5])
    report(6)
    held.resolve()
    expect((await ended).status).toBe(200)
    expect(reports).toEqual([
      { progress: 3, steps: 0 },
      { progress: 5, steps: 0 },
      { progress: 6, steps: 1 },
    ])
  })

  test('what comes while a report is under way goes with the next one, or with the answer', async () => {
    const receipt = deferred()
    const { reports, checkpoint } = recorder()
    const slow: Checkpointer = async report => {
      const receipts = await checkpoint(report)
      if (reports.length === 1) await receipt.promise
      return receipts
    }
    const began = deferred<(value: unknown) => void>()
    const held = deferred()
    const ended = pass(
      async ({ ctx, step }) => {
        await step.run('long', () => {
          began.resolve(ctx.progress)
          ctx.progress(1)
          return held.promise
        })
        ctx.progress('end')
      },
      { checkpoint: slow },
    )
    const report = await began.promise
    await vi.waitUntil(() => reports.length === 1)
    report(2)
    receipt.resolve()
    await vi.waitUntil(() => reports.length === 2)
    expect(reports).toEqual([
      { progress: 1, steps: 0 },
      { progress: 2, steps: 0 },
    ])
    held.resolve()
    expect(await ended).toMatchObject({ status: 200, progress: 'end' })
  })
})
