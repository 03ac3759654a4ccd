// Each step call becomes an opcode, and returns the result from the memo.

import { hashStepId } from '@perdure/protocol'
import { OpcodeSchema } from '@perdure/protocol/schema'
import { describe, expect, test } from 'vitest'
import type { RunContext } from '../run/run-context.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { StepTools } from '../workflow/workflow.ts'
import { runOf, TestRun } from './engine.testkit.ts'

async function opcodeOf(call: (step: StepTools, ctx: RunContext) => Promise<unknown>): Promise<unknown> {
  const { opcodes } = await runOf(({ step, ctx }) => call(step, ctx), {
    ctx: { features: ['wait-for-run', 'signals', 'start-run', 'step-limits'] },
  }).pass()
  expect(opcodes).toHaveLength(1)
  const { id, name, ...fields } = opcodes[0] as (typeof opcodes)[number]
  expect({ id, name }).toEqual({ id: hashStepId('s'), name: 's' })
  return fields
}

describe('opcodes', () => {
  const at = new Date('2030-01-02T03:04:05.000Z')
  const child = createWorkflow({ name: 'child' }, async () => 1)
  const cases: [string, (step: StepTools, ctx: RunContext) => Promise<unknown>, object][] = [
    ['run', step => step.run('s', () => ({ n: 1 })), { op: 'StepRun', data: { n: 1 } }],
    ['run with null', step => step.run('s', () => null), { op: 'StepRun', data: null }],
    ['sleep', step => step.sleep('s', '90s'), { op: 'Sleep', sleepMs: 90_000 }],
    ['sleep in ms', step => step.sleep('s', 5), { op: 'Sleep', sleepMs: 5 }],
    ['sleepUntil a Date', step => step.sleepUntil('s', at), { op: 'SleepUntil', sleepUntilMs: at.getTime() }],
    ['sleepUntil ms', step => step.sleepUntil('s', 42), { op: 'SleepUntil', sleepUntilMs: 42 }],
    [
      'sleepUntil text',
      step => step.sleepUntil('s', at.toISOString()),
      { op: 'SleepUntil', sleepUntilMs: at.getTime() },
    ],
    ['wait', step => step.waitForEvent('s', { event: 'paid' }), { op: 'WaitForEvent', eventName: 'paid' }],
    [
      'wait with all options',
      step => step.waitForEvent('s', { event: 'paid', timeout: '2h', if: 'async.data.id == event.data.id' }),
      { op: 'WaitForEvent', eventName: 'paid', timeoutMs: 7_200_000, if: 'async.data.id == event.data.id' },
    ],
    [
      'signal',
      step => step.waitForSignal('s', { signal: 'go', timeout: '1m', since: 'now' }),
      { op: 'WaitForSignal', signal: 'go', timeoutMs: 60_000, since: 'now', given: { settled: 0 } },
    ],
    ['callback', (_, ctx) => ctx.callback('s').wait(), { op: 'WaitForCallback' }],
    [
      'callback with a timeout',
      (_, ctx) => ctx.callback('s', { timeout: '7d' }).wait(),
      { op: 'WaitForCallback', timeoutMs: 604_800_000 },
    ],
    ['limit', step => step.run('s', () => 1, { limit: 'openai' }), { op: 'StepLimit', limit: 'openai' }],
    ['run', step => step.waitForRun('s', { runId: 'run_1' }), { op: 'WaitForRun', runId: 'run_1' }],
    [
      'run with a timeout',
      step => step.waitForRun('s', { runId: 'run_1', timeout: '1m' }),
      { op: 'WaitForRun', runId: 'run_1', timeoutMs: 60_000 },
    ],
    [
      'child with a timeout and a priority',
      step => step.runWorkflow('s', { workflow: 'child', timeout: '1m', priority: 5 }),
      { op: 'RunWorkflow', childName: 'child', timeoutMs: 60_000, priority: 5 },
    ],
    [
      'emit a list',
      step =>
        step.emit('s', [
          { event: 'a', data: { n: 1 }, delay: '1m' },
          { event: 'b', at, app: 'x' },
        ]),
      {
        op: 'Emit',
        eventName: 'a',
        events: [
          { eventName: 'a', delayMs: 60_000 },
          { eventName: 'b', atMs: at.getTime(), app: 'x', noData: true },
        ],
        data: [{ n: 1 }, null],
      },
    ],
    [
      'emit one with options',
      step => step.emit('s', { event: 'a', dedupeId: 'd', attributes: { n: 1 } }),
      {
        ...{ op: 'Emit', eventName: 'a', data: [null] },
        events: [{ eventName: 'a', dedupeId: 'd', attributes: { n: 1 }, noData: true }],
      },
    ],
    ['start', step => step.startRun('s', { workflow: 'other' }), { op: 'StartRun', workflow: 'other' }],
    [
      'start with everything',
      step =>
        step.startRun('s', {
          workflow: child,
          app: 'other',
          data: [1],
          key: 'k',
          ifRunning: 'cancel',
          delay: '1m',
          attributes: { n: 1 },
        }),
      {
        ...{ op: 'StartRun', workflow: 'child', app: 'other', data: [1], key: 'k', ifRunning: 'cancel' },
        ...{ delayMs: 60_000, attributes: { n: 1 } },
      },
    ],
    [
      'start at a time',
      step => step.startRun('s', { workflow: 'w', at }),
      { op: 'StartRun', workflow: 'w', atMs: at.getTime() },
    ],
    ['cancel', step => step.cancelRun('s', { runId: 'run_1' }), { op: 'CancelRun', runId: 'run_1' }],
    ['child by name', step => step.runWorkflow('s', { workflow: 'child' }), { op: 'RunWorkflow', childName: 'child' }],
    [
      'child by value, in another app',
      step => step.runWorkflow('s', { workflow: child, data: [1], app: 'other' }),
      { op: 'RunWorkflow', childName: 'child', childApp: 'other', childData: [1] },
    ],
    ['emit', step => step.emit('s', { event: 'noted', data: [1] }), { op: 'Emit', eventName: 'noted', data: [1] }],
    [
      'webhook',
      (_, ctx) => ctx.webhook.send('s', { url: 'https://example.com/hook', data: 'x' }),
      { op: 'Webhook', webhookUrl: 'https://example.com/hook', data: 'x' },
    ],
  ]
  test.each(cases)('%s', async (_, call, expected) => {
    expect(await opcodeOf(call)).toEqual(expected)
  })

  test('every kind of opcode has a tool', () => {
    // A separate test answers an update.
    const called = [...cases.map(([, , { op }]: [string, unknown, { op?: string }]) => op), 'ReplyToUpdate']
    expect(new Set(called)).toEqual(new Set(OpcodeSchema.anyOf.map(({ properties }) => properties.op.const)))
  })

  test('destructured tools work', async () => {
    expect(await opcodeOf(({ emit }) => emit('s', { event: 'e' }))).toEqual({ op: 'Emit', eventName: 'e' })
  })
})

describe('results', () => {
  test('a wait returns the event, or null when it timed out', async () => {
    const run = runOf(async ({ step }) => [
      await step.waitForEvent('got', { event: 'e' }),
      await step.waitForEvent('missed', { event: 'e', timeout: 1 }),
    ])
    const event = { id: 'evt_2', name: 'e', data: { n: 1 }, receivedAt: '2030-01-01T00:00:00.000Z' }
    run.settle('got', { data: event })
    run.settle('missed', { data: null })
    expect(await run.pass()).toMatchObject({ status: 200, data: [event, null] })
  })

  test('the data that the engine stores for a sleep or a webhook is hidden', async () => {
    const run = runOf(async ({ step, ctx }) => [
      typeof (await step.sleep('sleep', 1)),
      typeof (await step.sleepUntil('until', 1)),
      typeof (await ctx.webhook.send('hook', { url: 'http://example.com' })),
    ])
    for (const id of ['sleep', 'until', 'hook']) run.settle(id, { data: { noted: true } })
    expect(await run.pass()).toMatchObject({ data: ['undefined', 'undefined', 'undefined'] })
  })

  test('an emit gives the ids of its events', async () => {
    const run = runOf(async ({ step }) => [
      await step.emit('one', { event: 'e' }),
      await step.emit('list', [{ event: 'e' }, { event: 'e', dedupeId: 'd' }]),
    ])
    run.settle('one', { data: { eventId: 'evt_1' } })
    run.settle('list', { data: { ids: ['evt_2', null] } })
    expect(await run.pass()).toMatchObject({ data: [{ ids: ['evt_1'] }, { ids: ['evt_2', null] }] })
  })

  test('an update is answered by a step, a plain signal by none', async () => {
    const run = runOf(
      async ({ step }) => {
        const update = await step.waitForSignal('u', { signal: 'ask' })
        const plain = await step.waitForSignal('p', { signal: 'ask' })
        await plain?.reply(1)
        await update?.reply({ n: 2 })
        await update?.reject('no')
        return { update, plain }
      },
      { ctx: { features: ['signals'] } },
    )
    const signal = (id: string) => ({ id, name: 'ask', data: 7, receivedAt: '2030-01-01T00:00:00.000Z' })
    run.settle('u', { data: { ...signal('evt_1'), isUpdate: true } })
    run.settle('p', { data: signal('evt_2') })
    const opcodes = async () => (await run.pass()).opcodes?.map(({ id: _, ...fields }) => fields)
    const op = 'ReplyToUpdate'
    expect(await opcodes()).toEqual([{ op, name: 'reply to u', updateId: 'evt_1', data: { n: 2 } }])
    run.settle('reply to u', {})
    expect(await opcodes()).toEqual([{ op, name: 'reply to u', updateId: 'evt_1', rejected: 'no' }])
    run.settle('reply to u:1', {})
    expect(await run.pass()).toMatchObject({ data: { update: signal('evt_1'), plain: signal('evt_2') } })
  })

  test('a run that continues says which signals it was given', async () => {
    const run = runOf(
      async ({ step, ctx }) => {
        await Promise.race([step.waitForSignal('a', { signal: 'x' }), step.waitForSignal('b', { signal: 'y' })])
        await step.run('then', () => 1)
        return ctx.continueAs(1)
      },
      { ctx: { features: ['signals', 'continue-as'] } },
    )
    const signal = (id: string, name: string) => ({ op: 'WaitForSignal', data: { id, name, data: 7, receivedAt: '' } })
    run.settle('a', signal('evt_1', 'x'))
    run.settle('then', { data: 1 })
    run.settle('b', signal('evt_2', 'y'))
    expect(await run.pass()).toMatchObject({ continueAs: { data: 1, given: { settled: 3, except: ['evt_2'] } } })
  })

  test('a wait for a run gives its end, or null when it timed out', async () => {
    const run = runOf(
      async ({ step }) => [
        await step.waitForRun('got', { runId: 'run_2' }),
        await step.waitForRun('missed', { runId: 'run_2', timeout: 1 }),
      ],
      { ctx: { features: ['wait-for-run'] } },
    )
    const end = { runId: 'run_3', status: 'succeeded', result: { n: 1 } }
    run.settle('got', { data: end })
    run.settle('missed', { data: null })
    expect(await run.pass()).toMatchObject({ status: 200, data: [end, null] })
  })

  test('a wait for a run needs an engine that knows it, and a run', async () => {
    const without = await runOf(({ step }) => step.waitForRun('s', { runId: 'run_2' })).pass()
    expect(without.error?.message).toContain('wait-for-run')
    const features = { ctx: { features: ['wait-for-run'] } }
    const unnamed = await runOf(({ step }) => step.waitForRun('s', { runId: '' }), features).pass()
    expect(unnamed.error?.message).toContain('runId must be')
  })

  test('a start gives the run, and a cancel nothing', async () => {
    const run = runOf(async ({ step }) => [
      await step.startRun('go', { workflow: 'other' }),
      await step.cancelRun('stop', { runId: 'run_2' }),
    ])
    const started = { runId: 'run_2', existing: false }
    run.settle('go', { data: started })
    run.settle('stop', { data: null })
    expect(await run.pass()).toMatchObject({ status: 200, data: [started, null] })
  })

  test.each<[string, (step: StepTools) => Promise<unknown>]>([
    ['workflow must be', step => step.startRun('s', { workflow: '' })],
    ['key must be', step => step.startRun('s', { workflow: 'w', key: '' })],
    ['key must be', step => step.startRun('s', { workflow: 'w', key: 'k'.repeat(257) })],
    ['ifRunning must be', step => step.startRun('s', { workflow: 'w', key: 'k', ifRunning: 'queue' as never })],
    ['without key', step => step.startRun('s', { workflow: 'w', ifRunning: 'use' })],
    ['either delay or at', step => step.startRun('s', { workflow: 'w', delay: 1, at: 1e12 })],
    ['attributes: "a" must be', step => step.startRun('s', { workflow: 'w', attributes: { a: [] as never } })],
    ['has no option "ky"', step => step.startRun('s', { workflow: 'w', ky: 'k' } as never)],
    ['priority must be', step => step.runWorkflow('s', { workflow: 'w', priority: '5' as never })],
    ['1 to 1000 events, not 0', step => step.emit('s', [])],
    ['1 to 1000 events, not 1001', step => step.emit('s', Array(1001).fill({ event: 'a' }))],
    ['either delay or at', step => step.emit('s', { event: 'a', delay: 1, at: 1e12 })],
    ['dedupeId must be', step => step.emit('s', { event: 'a', dedupeId: '' })],
    ['runId must be', step => step.cancelRun('s', { runId: '' })],
  ])('bad arguments are refused: %s', async (message, call) => {
    const refused = await runOf(({ step }) => call(step), { ctx: { features: ['start-run'] } }).pass()
    expect(refused.error?.message).toContain(message)
  })

  test.each<(step: StepTools) => Promise<unknown>>([
    step => step.startRun('s', { workflow: 'w' }),
    step => step.cancelRun('s', { runId: 'run_1' }),
    step => step.runWorkflow('s', { workflow: 'w', timeout: '1m' }),
    step => step.emit('s', [{ event: 'a' }]),
    step => step.emit('s', { event: 'a', dedupeId: 'd' }),
  ])('an engine that does not know the feature is named: %s', async call => {
    const refused = await runOf(({ step }) => call(step)).pass()
    expect(refused.error?.message).toContain('(start-run)')
  })
})

describe('ctx.continueAs', () => {
  const features = ['continue-as']

  test.each<[string, unknown, object]>([
    ['with data', { page: 2 }, { data: { page: 2 } }],
    ['with null', null, { data: null }],
    ['without data', undefined, {}],
  ])('%s takes the place of the result', async (_, data, continueAs) => {
    const record = await runOf(({ ctx }) => ctx.continueAs(data), { ctx: { features } }).pass()
    expect(record).toMatchObject({ status: 200, continueAs })
    expect(record).not.toHaveProperty('data')
  })

  test('fails the run with an engine that does not know it', async () => {
    const record = await runOf(({ ctx }) => ctx.continueAs(1)).pass()
    expect(record).toMatchObject({ status: 400, error: { name: 'NonRetriableError' } })
    expect(record.error?.message).toContain('continue-as')
  })

  test('comes with the steps that the pass ends with', async () => {
    const run = runOf(
      async ({ step, ctx }) => {
        await step.run('s', () => 1)
        return ctx.continueAs({ n: 2 })
      },
      { ctx: { features: [...features, 'end-with-steps'] } },
    )
    expect(await run.pass()).toMatchObject({ status: 200, continueAs: { data: { n: 2 } }, opcodes: [{ name: 's' }] })
  })
})

describe('invalid arguments reject the call and, uncaught, fail the run', () => {
  const cyclic: { self?: unknown } = {}
  cyclic.self = cyclic
  const cases: [string, (step: StepTools, ctx: RunContext) => Promise<unknown>, string][] = [
    ['no name', step => step.run('', () => 1), 'A step name must be a string of 1 to 1024 characters'],
    ['a long name', step => step.run('n'.repeat(1025), () => 1), 'A step name must be'],
    ['no callback', step => step.run('s', undefined as never), 'Step "s" has no callback'],
    [
      'no duration',
      step => step.sleep('s', '2 months' as never),
      'Step "s": not a duration: 2 months (milliseconds, or numbers with ms, s, m, h, d, w or their words: "30s", "1h30m", "2 days"; at most 100 years)',
    ],
    ['an endless duration', step => step.sleep('s', 1e15), 'Step "s": not a duration'],
    ['no time', step => step.sleepUntil('s', 'tomorrow'), 'Step "s": not a time: tomorrow'],
    ['no event name', step => step.waitForEvent('s', { event: ' ' }), 'Step "s": event must be a name'],
    ['no workflow', step => step.runWorkflow('s', { workflow: '' }), 'Step "s": workflow must be a name'],
    ['no URL', (_, ctx) => ctx.webhook.send('s', { url: 'ftp://x' }), 'Step "s": not an http or https URL: ftp://x'],
    ['a cycle', step => step.emit('s', { event: 'e', data: cyclic }), 'The data of step "s" cannot be stored as JSON'],
    [
      'too much data',
      step => step.runWorkflow('s', { workflow: 'w', data: 'x'.repeat(1_100_000) }),
      'The data of step "s" is too large: 1100002 bytes',
    ],
  ]
  test.each(cases)('%s', async (_, call, message) => {
    const record = await runOf(({ step, ctx }) => call(step, ctx)).pass()
    expect(record).toMatchObject({
      status: 400,
      error: { name: 'NonRetriableError', message: expect.stringContaining(message) },
    })
    const caught = await runOf(({ step, ctx }) => call(step, ctx).then(String, () => 'caught')).pass()
    expect(caught).toMatchObject({ status: 200, data: 'caught' })
  })
})

describe('ctx', () => {
  test('has the fields of the invoke', async () => {
    const workflow = createWorkflow({ name: 'flow' }, async ({ ctx, event }) => {
      const { logger, webhook, ...fields } = ctx
      return { fields, event, tools: [typeof logger.info, typeof webhook.send] }
    })
    const ctx = { attempt: 3, runner: 'r1', traceparent: '00-1-2-01' }
    expect(await new TestRun(workflow, { data: { n: 1 }, ctx }).pass()).toMatchObject({
      data: {
        fields: {
          runId: 'run_1',
          app: 'tests',
          workflow: 'flow',
          attempt: 3,
          runner: 'r1',
          traceparent: '00-1-2-01',
        },
        event: { id: 'evt_1', name: 'test', data: { n: 1 } },
        tools: ['function', 'function'],
      },
    })
  })
})

describe('onFailure', () => {
  const workflow = createWorkflow(
    {
      name: 'flow',
      onFailure: async ({ error, event, step }) =>
        step.run('announce', () => `${error.name}: ${error.message} for ${JSON.stringify(event.data)}`),
    },
    async () => 'not called',
  )
  const ctx = { onFailure: true, error: { name: 'CardError', message: 'declined' } }

  test('is called with the error instead of the handler, and may have steps', async () => {
    const run = new TestRun(workflow, { ctx, data: { n: 1 } })
    expect(await run.drive()).toMatchObject({ status: 200, data: 'CardError: declined for {"n":1}' })
    expect(workflow.registration.onFailure).toBe(true)
  })

  test('that is missing makes the runner refuse the invoke', async () => {
    const without = createWorkflow({ name: 'flow' }, async () => 'not called')
    expect(await new TestRun(without, { ctx }).pass()).toMatchObject({
      status: 400,
      error: { message: 'Workflow "flow" has no onFailure handler' },
    })
  })
})
