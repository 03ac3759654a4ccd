// Misspelt names and options in a test fail it (docs/testing.md#names-that-nothing-has).

import { describe, expect, test } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
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
  test.each<[string, (engine: TestEngine) => unknown, string]>([
    [
      'of a mock',
      engine => engine.mock('charge crad', () => 1),
      'mock("charge crad"): no workflow called a step "charge crad"; did you mean "charge card"?; { optional: true } allows it',
    ],
    [
      'of a mock, like no other',
      engine => engine.mock('ship', () => 1),
      'mock("ship"): no workflow called a step "ship"; known are charge card',
    ],
    [
      'of a hold',
      engine => engine.hold('charge-crd'),
      'hold("charge-crd"): no workflow called a step "charge-crd"; did you mean "charge card"?',
    ],
    [
      'of a step of another workflow',
      engine => engine.mock('charge card', () => 1, { workflow: other }),
      'mock("charge card"): workflow "other" never called a step "charge card"',
    ],
  ])('%s: the engine stops with a sentence that names the nearest', async (_, act, message) => {
    expect(await stopped(act)).toContain(message)
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

test.each<[string, (engine: TestEngine) => unknown, string]>([
  [
    'a workflow of a mock',
    engine => engine.mock('charge card', () => 1, { workflow: 'ordr' }),
    'mock("charge card"): there is no workflow "ordr" under test; did you mean "order"?',
  ],
  [
    'a workflow of a list',
    engine => engine.runs({ workflow: 'ordr' }),
    'runs: there is no workflow "ordr" under test; did you mean "order"?',
  ],
  [
    'an option of a mock',
    engine => engine.mock('charge card', () => 1, { workflw: order } as never),
    'mock has no option "workflw"; did you mean "workflow"?',
  ],
  [
    'an option of a list',
    engine => engine.runs({ state: 'failed' } as never),
    'runs has no option "state"; did you mean "status"?',
  ],
  [
    'an option of an event',
    engine => engine.send('order', 1, { dedupe: 'x' } as never),
    'send has no option "dedupe"; did you mean "dedupeId"?',
  ],
  [
    'an option of a start',
    engine => engine.start(order, undefined, { evnt: 'x' } as never),
    'start has no option "evnt"; did you mean "event"?',
  ],
  [
    'an option of a result',
    async engine => (await engine.start(order)).result({ witin: '1h' } as never),
    'The read of a run has no option "witin"; did you mean "within"?',
  ],
  [
    'an option of the end',
    engine => engine.stop({ leaveRun: true } as never),
    'stop has no option "leaveRun"; did you mean "leaveRuns"?',
  ],
])('%s that is misspelt is refused at once', async (_, act, message) => {
  const engine = await testEngine([order, other])
  await expect((async () => act(engine))()).rejects.toThrow(message)
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

test.each<[string, object[]]>([
  ['with a schedule', [{ cron: '0 6 * * 1' }]],
  ['without triggers', []],
])('a workflow %s is started directly', async (_, triggers) => {
  const options = { name: 'report', triggers: triggers as { event: string }[] }
  const report = createWorkflow(options, ({ event, step }) => step.run('count', () => event.data))
  await using engine = await testEngine([order, report])
  expect(await (await engine.start(report, { of: 'May' })).result()).toEqual({ of: 'May' })
})
