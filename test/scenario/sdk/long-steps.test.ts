// A step that takes longer than `timeouts.invoke` of its workflow (docs/steps.md#failures): one execution at a time, and each
// attempt counts.

import { createWorkflow, type StepFailedError } from '@perdure/sdk'
import { describe, expect, test } from 'vitest'
import { gate, scenario, unique } from '../../kit/index.ts'
import { serveOver, TRANSPORTS } from './transports.entry.ts'

const { api, url } = await scenario({ realTime: true })

describe.each(TRANSPORTS)('over %s a step that is longer than timeouts.invoke', transport => {
  test('is executed once, fails with its last attempt, and its signal is aborted', async () => {
    const name = unique('long')
    const aborted = gate()
    let executions = 0
    const workflow = createWorkflow({ name, timeouts: { invoke: 60 }, retry: { maxAttempts: 1 } }, async ({ step }) => {
      const error = await step
        .run('convert', ({ signal }) => {
          executions++
          signal.addEventListener('abort', () => aborted.open())
          return new Promise(() => {})
        })
        .catch((error: StepFailedError) => error)
      await step.run('after', ({ signal }) => signal.aborted)
      return error
    })
    await serveOver(transport, { app: name, workflows: [workflow], engineUrl: url })
    const { runId } = await api.send({ name })
    await aborted.opened
    await api.succeeded(runId)
    expect(executions).toBe(1)
    const [convert, after] = await api.steps(runId)
    expect(convert).toMatchObject({ status: 'failed', attempt: 1, error: { code: 'step_timeout' } })
    expect(convert?.error?.message).toMatch(
      /^Step "convert" took longer than the 60ms of timeouts\.invoke: give .*signal/,
    )
    expect(after).toMatchObject({ data: false })
  })

  test('gives its late result to the attempt that waits for it', async () => {
    const name = unique('late')
    const second = gate()
    const executions: number[] = []
    const retry = { maxAttempts: 50, initialMs: 5, factor: 1, jitter: 0 }
    const workflow = createWorkflow({ name, timeouts: { invoke: 60 }, retry }, ({ step, ctx }) => {
      if (ctx.attempt > 1) second.open()
      return step.run('convert', async ({ attempt }) => {
        executions.push(attempt)
        await second.opened
        return 'converted'
      })
    })
    await serveOver(transport, { app: name, workflows: [workflow], engineUrl: url })
    const { runId } = await api.send({ name })
    expect((await api.succeeded(runId)).result).toBe('converted')
    expect(executions).toEqual([1])
    const [step] = await api.steps(runId)
    expect(step?.attempt).toBeGreaterThan(1)
  })
})

test('a handler that works outside of its steps for longer fails with its reason', async () => {
  const name = unique('outside')
  const workflow = createWorkflow({ name, timeouts: { invoke: 60 }, handlerRetries: 1 }, async ({ step }) => {
    await step.run('first', () => 1)
    return new Promise(() => {})
  })
  await serveOver('HTTP', { app: name, workflows: [workflow], engineUrl: url })
  const { runId } = await api.send({ name })
  const { error } = await api.failed(runId)
  expect(error).toMatchObject({ code: 'handler_failed', fields: { code: 'timeout' } })
  expect(error?.message).toMatch(/^The handler, outside of its steps and after step "first", took longer than the 60ms/)
})
