// Misspelt names and options in a test fail it (docs/testing.md#names-that-nothing-has).

import { describe, expect, test } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { WorkflowHandler } from '../workflow/workflow.ts'
import { type TestEngine, testEngine } from './index.ts'

const order = createWorkflow({ name: 'order' }, async ({ event, step }) => {
  if (event.data === 'refund') return step.run('refund', () => 'refunded')
  return step.run('charge card', () => 'charged')
})
const other = createWorkflow({ name: 'other' }, ({ step }) => step.run('mail', () => 'sent'))

/** Runs an order after `act`, and returns the message with which the engine stops. */
async function stopped(act: (engine: TestEngine) => unknown): Promise<string> {
  const engine = await testEngine([order, other])
  await act(engine)
  const run = await engine.start(order)
  await run.result()
  return engine.stop().then(
    () => 'stopped',
    (error: Error) => error.message,
  )
}

describe('a name of a step that no workflow has', () => {
  test('of a mock, of a hold, or of another workflow: the engine stops with sentences that name the nearest', async () => {
    const message = await stopped(engine => {
      engine.mock('charge crad', () => 1)
      engine.mock('ship', () => 1)
      engine.hold('charge-crd')
      engine.mock('charge card', () => 1, { workflow: other })
    })
    for (const sentence of [
      'mock("charge crad"): no workflow called a step "charge crad"; did you mean "charge card"?; { optional: true } allows it',
      'mock("ship"): no workflow called a step "ship"; known are charge card',
      'hold("charge-crd"): no workflow called a step "charge-crd"; did you mean "charge card"?',
      'mock("charge card"): workflow "other" never called a step "charge card"',
    ])
      expect(message).toContain(sentence)
  })

  test('that a test reads is one if another is near', async () => {
    const engine = await testEngine([order, other])
    const run = await engine.start(order)
    expect([run.executions('charge'), run.executions('refund'), run.executions('ship it')]).toEqual([0, 0, 0])
    expect(await run.step('charge card:1')).toBeUndefined()
    await expect(engine.stop()).rejects.toThrow(
      'executions("charge"): no workflow called a step "charge"; did you mean "charge card"?',
    )
  })

  test('is none if the text of a handler has it, if it is optional, or if it is a later use of a name', async () => {
    const message = await stopped(engine => {
      engine.mock('refund', () => 1)
      engine.hold('charge card:1').release()
      engine.mock('elsewhere', () => 1, { optional: true })
    })
    expect(message).toBe('stopped')
  })
})

const MISSPELT: [(engine: TestEngine) => unknown, string][] = [
  [
    engine => engine.mock('charge card', () => 1, { workflow: 'ordr' }),
    'mock("charge card"): there is no workflow "ordr" under test; did you mean "order"?',
  ],
  [engine => engine.runs({ workflow: 'ordr' }), 'runs: there is no workflow "ordr" under test; did you mean "order"?'],
  [
    engine => engine.mock('charge card', () => 1, { workflw: order } as never),
    'mock has no option "workflw"; did you mean "workflow"?',
  ],
  [engine => engine.runs({ state: 'failed' } as never), 'runs has no option "state"; did you mean "status"?'],
  [
    engine => engine.send('order', 1, { dedupe: 'x' } as never),
    'send has no option "dedupe"; did you mean "dedupeId"?',
  ],
  [
    engine => engine.start(order, undefined, { evnt: 'x' } as never),
    'start has no option "evnt"; did you mean "event"?',
  ],
  [
    async engine => (await engine.start(order)).result({ witin: '1h' } as never),
    'The read of a run has no option "witin"; did you mean "within"?',
  ],
  [engine => engine.stop({ leaveRun: true } as never), 'stop has no option "leaveRun"; did you mean "leaveRuns"?'],
]

test('a misspelt name of a workflow or an option is refused at once', async () => {
  const engine = await testEngine([order, other])
  for (const [act, message] of MISSPELT) await expect((async () => act(engine))()).rejects.toThrow(message)
  await engine.stop()
})

test('an event may be delayed, and set attributes', async () => {
  await using engine = await testEngine([order])
  await engine.send('order', undefined, { delay: '2h', attributes: { customer: 'c-1' } })
  await engine.send('order', undefined, { at: new Date(engine.now().getTime() + 3_600_000) })
  expect(await engine.runs()).toHaveLength(0)
  await engine.advance('1h')
  expect(await engine.runs()).toHaveLength(1)
  await engine.advance('1h')
  const [, delayed] = await engine.runs()
  expect((await delayed?.read())?.attributes).toEqual({ customer: 'c-1' })
})

test('workflows with a schedule and without triggers are started directly', async () => {
  const handler: WorkflowHandler<unknown, unknown> = ({ event, step }) => step.run('count', () => event.data)
  const scheduled = createWorkflow({ name: 'scheduled', triggers: [{ cron: '0 6 * * 1' }] }, handler)
  const untriggered = createWorkflow({ name: 'untriggered', triggers: [] }, handler)
  await using engine = await testEngine([scheduled, untriggered])
  for (const workflow of [scheduled, untriggered])
    expect(await (await engine.start(workflow, { of: 'May' })).result()).toEqual({ of: 'May' })
})
