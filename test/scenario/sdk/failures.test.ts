// Failures of steps and handlers, as the SDK reports them and the engine judges them (docs/steps.md#failures).

import { createWorkflow, NonRetriableError, StepFailedError, type Workflow } from '@perdure/sdk'
import { serve } from '@perdure/sdk/node'
import { describe, expect, test } from 'vitest'
import { onCleanup, scenario, unique, waitsFor } from '../../kit/index.ts'

const { api, clock, url: engineUrl } = await scenario()

/** Serves a workflow and starts a run of it. */
async function started(workflow: Workflow<never, unknown>): Promise<string> {
  const app = unique('failures')
  const runner = await serve({ app, workflows: [workflow], port: 0, engineUrl, log: () => undefined })
  onCleanup(() => runner.close())
  await runner.ready
  const { runId } = await api.send({ name: workflow.name, targetApp: app })
  return runId
}

describe('a step that fails for good', () => {
  const declined = () => {
    throw new NonRetriableError('declined')
  }

  test('rejects its call, and the handler may catch it', async () => {
    const runId = await started(
      createWorkflow({ name: 'caught' }, async ({ step }) => {
        try {
          await step.run('charge', declined)
        } catch (error) {
          const { stepName, message } = error as StepFailedError
          return step.run('apologise', () => `${error instanceof StepFailedError} ${stepName} ${message}`)
        }
      }),
    )
    expect(await api.succeeded(runId)).toMatchObject({ result: 'true charge declined' })
  })

  test('fails its run with its own error when nothing catches it, and onFailure follows', async () => {
    const runId = await started(
      createWorkflow({ name: 'uncaught', onFailure: ({ error }) => error.message }, async ({ step }) =>
        step.run('charge', declined),
      ),
    )
    const { error, attempt } = await api.failed(runId)
    const { error: stored } = await api.step(runId, 'charge')
    expect(error).toEqual({ ...stored, code: 'step_failed', stepName: 'charge' })
    expect(error?.stack).toContain('failures.test.ts')
    expect(attempt).toBe(1)
    const follower = (await api.runs('?limit=200')).find(({ parentRunId }) => parentRunId === runId)
    expect(await api.succeeded(follower?.id as string)).toMatchObject({ result: 'declined' })
  })

  test('ends its run before the handler sees it with catch: false', async () => {
    let seen = false
    const runId = await started(
      createWorkflow({ name: 'at-once' }, ({ step }) =>
        step.run('charge', declined, { catch: false }).catch(() => {
          seen = true
        }),
      ),
    )
    expect((await api.failed(runId)).error).toMatchObject({ code: 'step_failed', stepName: 'charge' })
    expect(seen).toBe(false)
  })

  test('in a child fails the parent as a step of the parent', async () => {
    const runId = await started(
      createWorkflow({ name: 'parent' }, ({ step }) => step.runWorkflow('child', { workflow: 'nowhere' })),
    )
    await waitsFor(api, runId, 'runner')
    clock.jump(600_000)
    expect((await api.failed(runId)).error).toMatchObject({
      message: 'No app has a workflow "nowhere".',
      code: 'step_failed',
      stepName: 'child',
    })
  })
})
