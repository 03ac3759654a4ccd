// step.waitForRun in virtual time, over a crash of the engine.

import type { Duration } from '@perdure/client'
import { expect, test } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { open } from './open.testkit.ts'

const shipment = createWorkflow({ name: 'shipment' }, async ({ step }) => {
  await step.sleep('transit', '2d')
  return 'delivered'
})
const report = createWorkflow({ name: 'report' }, async ({ event, step }) => {
  const { runId, timeout } = event.data as { runId: string; timeout?: Duration }
  return step.waitForRun('end', timeout === undefined ? { runId } : { runId, timeout })
})

test('a run gets the end of another one, null at its timeout, and an error if there is no such run', async () => {
  const engine = await open([shipment, report])
  const { id: runId } = await engine.start(shipment)
  const [patient, hasty] = [await engine.start(report, { runId }), await engine.start(report, { runId, timeout: '1d' })]
  expect(await hasty.result({ within: '1d' })).toBeNull()
  await engine.crash()
  await engine.restart()
  expect(await patient.result({ within: '2d' })).toEqual({ runId, status: 'succeeded', result: 'delivered' })
  const wrong = await engine.start(report, { runId: 'run_none' })
  expect(await wrong.failure()).toMatchObject({ name: 'RunNotFoundError' })
})
