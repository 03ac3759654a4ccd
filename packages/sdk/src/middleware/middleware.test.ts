// Middleware around passes, steps and values.

import { defineEvent, type InputPlace, NonRetriableError } from '@perdure/client'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Checkpointer } from '../pass/checkpoints.ts'
import { type Settle, TestRun, type TestRunOptions } from '../replay/engine.testkit.ts'
import { createHandler } from '../runner/handler.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { WorkflowArgs } from '../workflow/workflow.ts'
import type { Middleware, PassEnd } from './middleware.ts'

const runWith = (middleware: Middleware[], handler: (args: WorkflowArgs) => unknown, options?: TestRunOptions) =>
  new TestRun(createWorkflow({ name: 'w', middleware }, handler), options)

const journal: string[] = []
const noting = (name: string): Middleware => ({
  name,
  async wrapRun({ ctx, event, next }) {
    journal.push(`${name}: run ${ctx.runId} of ${event.name} begins`)
    const result = await next()
    journal.push(`${name}: run gives ${result}`)
    return result
  },
  async wrapStep({ step, ctx, event, next }) {
    journal.push(`${name}: ${step.op} ${step.name} (${step.attempt}) of ${ctx.workflow} for ${event.name} begins`)
    const result = await next()
    journal.push(`${name}: step gives ${result}`)
    return result
  },
})

describe('wrapRun and wrapStep', () => {
  test('wrap every pass and every step, the first outermost; on a parked pass next() never settles', async () => {
    journal.length = 0
    const run = runWith([noting('a'), noting('b')], async ({ step }) => step.run('s', () => 1))
    expect(await run.drive()).toMatchObject({ status: 200, data: 1 })
    const begin = ['a: run run_1 of test begins', 'b: run run_1 of test begins']
    expect(journal).toEqual([
      ...begin,
      'a: StepRun s (1) of w for test begins',
      'b: StepRun s (1) of w for test begins',
      'b: step gives 1',
      'a: step gives 1',
      ...begin,
      'b: run gives 1',
      'a: run gives 1',
    ])
  })

  test("the runner's middleware is outside the workflow's", async () => {
    journal.length = 0
    const workflow = createWorkflow({ name: 'w', middleware: [noting('inner')] }, () => 1)
    const handler = createHandler({
      app: 'a',
      workflows: [workflow],
      signingKey: [],
      middleware: [noting('outer')],
    })
    const request = { event: { name: 'e' }, steps: {}, ctx: { runId: 'r', workflow: 'w' } }
    await handler.invoke(request)
    await handler.handle({ headers: { 'content-type': 'application/json' }, rawBody: JSON.stringify(request) })
    const pass = ['outer: run r of e begins', 'inner: run r of e begins', 'inner: run gives 1', 'outer: run gives 1']
    expect(journal).toEqual([...pass, ...pass])
  })

  test('may change results, and their errors are thrown by the step or the handler', async () => {
    const doubling: Middleware = {
      name: 'doubling',
      wrapStep: async ({ next }) => (await next()) as number,
      wrapRun: async ({ next }) => ((await next()) as number) * 2,
    }
    const twice: Middleware = {
      name: 'twice',
      wrapStep: async ({ next }) => Number(await next()) + Number(await next()),
    }
    const step = ({ step }: WorkflowArgs) => step.run('s', () => 5)
    expect(await runWith([doubling, twice], step).drive()).toMatchObject({ data: 20 })

    const refusing: Middleware = {
      name: 'refusing',
      wrapStep: () => {
        throw new Error('no step')
      },
    }
    expect((await runWith([refusing], step).pass()).opcodes).toMatchObject([
      { op: 'StepRun', error: { message: 'no step' } },
    ])
    const blocking: Middleware = { name: 'blocking', wrapRun: () => Promise.reject(new Error('no run')) }
    expect(await runWith([blocking], () => 1).pass()).toMatchObject({
      status: 500,
      error: { message: 'no run' },
    })
  })

  test('wrapRun sees a failure once, in the pass that ends with it, also if the handler got it before it was stored', async () => {
    const seen: unknown[] = []
    const watching: Middleware = {
      name: 'watching',
      async wrapRun({ next }) {
        try {
          return await next()
        } catch (error) {
          seen.push((error as Error).message)
          throw error
        } finally {
          seen.push('over')
        }
      },
    }
    const ends: PassEnd['kind'][] = []
    const run = runWith(
      [watching, { name: 'ends', onPassEnd: ({ end }) => void ends.push(end.kind) }],
      ({ step }) =>
        step.run('charge', () => {
          throw new NonRetriableError('declined')
        }),
      { ctx: { features: ['end-with-steps'] } },
    )
    await run.drive()
    expect(ends).toEqual(['parked', 'threw'])
    expect(seen).toEqual(['declined', 'over'])
  })

  test('wrapRun sees the return of a handler once, also before effects that it did not await are stored', async () => {
    const seen: unknown[] = []
    const watching: Middleware = {
      name: 'watching',
      async wrapRun({ next }) {
        const result = await next()
        seen.push(result)
        return result
      },
    }
    const handler = ({ step, ctx }: WorkflowArgs) => {
      void step.emit('tell', { event: 'told' })
      void ctx.webhook.send('call', { url: 'https://example.com' })
      return 'done'
    }
    await runWith([watching], handler, { ctx: { features: ['end-with-steps'] } }).drive()
    expect(seen).toEqual(['done'])
  })

  test('a handler cannot be run twice in one pass', async () => {
    const again: Middleware = { name: 'again', wrapRun: async ({ next }) => [await next(), await next()] }
    expect(await runWith([again], () => 1).pass()).toMatchObject({
      status: 400,
      error: { message: 'Middleware again: wrapRun called next() twice' },
    })
  })

  test('wrapRun sees a refused input, and the step of a wrapStep cannot be nested', async () => {
    let seen: unknown
    const watching: Middleware = {
      name: 'watching',
      wrapRun: ({ next }) =>
        next().catch(error => {
          seen = error
          throw error
        }),
    }
    const workflow = createWorkflow({ name: 'w', input: z.string(), middleware: [watching] }, () => 1)
    expect(await new TestRun(workflow, { data: 1 }).pass()).toMatchObject({ status: 400 })
    expect(seen).toMatchObject({ name: 'InvalidDataError' })
  })
})

describe('onPassEnd', () => {
  test('is called with the end of every pass', async () => {
    const ends: PassEnd[] = []
    const middleware: Middleware[] = [{ name: 'm', onPassEnd: ({ end }) => ends.push(end) }]
    let fail = true
    const run = runWith(middleware, async ({ step }) => {
      await step.run('s', () => 1)
      if (fail) throw new Error('once')
    })
    await run.drive()
    fail = false
    await run.drive()
    expect(ends).toEqual([
      { kind: 'parked' },
      { kind: 'threw', error: expect.objectContaining({ message: 'once' }) },
      { kind: 'returned' },
    ])
  })

  test('its errors are only logged', async () => {
    const broken: Middleware = {
      name: 'broken',
      onPassEnd: () => {
        throw new Error('full')
      },
    }
    const rejecting: Middleware = { name: 'rejecting', onPassEnd: async () => Promise.reject(new Error('x')) }
    expect(await runWith([broken, rejecting], () => 1).pass()).toMatchObject({
      status: 200,
      data: 1,
      logs: [{ level: 'error', message: 'Middleware "broken": onPassEnd failed: full' }],
    })
  })
})

/** Wraps every output, and requires that every input is wrapped. */
const sealing = (seal: string): Middleware => ({
  name: seal,
  transformOutput: (value, { kind, name, eventName = '' }) => ({
    [seal]: value,
    from: `${kind} ${name}${eventName}`,
  }),
  transformInput: value => {
    if (typeof value !== 'object' || value === null || !(seal in value)) throw new Error(`no ${seal}`)
    return (value as Record<string, unknown>)[seal]
  },
})

const seen = defineEvent('seen', z.object({ n: z.string().transform(Number) }))

const everything = createWorkflow(
  { name: 'w', middleware: [sealing('outer'), sealing('inner')] },
  async ({ event, step, ctx }) => {
    const ran = await step.run('run', () => 1)
    await step.run('nothing', () => undefined)
    await step.emit('emit', { event: seen, data: { n: '2' } })
    await ctx.webhook.send('hook', { url: 'http://x.test', data: 3 })
    const waited = await step.waitForEvent('wait', { event: seen })
    const late = await step.waitForEvent('late', { event: 'never' })
    const child = await step.runWorkflow('child', { workflow: 'c', data: 4 })
    return { event: event.data, ran, waited: waited?.data.n, late, child }
  },
)

describe('transformInput and transformOutput', () => {
  const sealed = (value: unknown) => ({ outer: { inner: value } })
  const settle: Settle = opcode => {
    if (opcode.name === 'late') return { data: null }
    if (opcode.op === 'WaitForEvent') {
      return { data: { id: 'e', name: 'seen', receivedAt: 'then', data: sealed({ n: '5' }) } }
    }
    return { data: opcode.op === 'RunWorkflow' ? sealed('result') : null }
  }

  test('see every value, innermost or outermost first, except undefined and the null of a timeout', async () => {
    const run = new TestRun(everything, { data: sealed('start'), settle })
    const end = await run.drive()
    const seal = (value: unknown, from: string) => ({ outer: { inner: value, from }, from })
    expect(end).toMatchObject({
      status: 200,
      data: seal({ event: 'start', ran: 1, waited: 5, late: null, child: 'result' }, 'result w'),
    })
    const opcodes = run.passes.flatMap(pass => pass.opcodes)
    expect(opcodes).toMatchObject([
      { name: 'run', data: seal(1, 'step run') },
      { name: 'nothing' },
      { name: 'emit', data: seal({ n: '2' }, 'emit emitseen') },
      { name: 'hook', data: seal(3, 'webhook hook') },
      { name: 'wait' },
      { name: 'late' },
      { name: 'child', childData: seal(4, 'child child') },
    ])
    expect(opcodes[1]).not.toHaveProperty('data')
  })

  test('their errors fail the step or the pass', async () => {
    expect(await new TestRun(everything, { data: 'bare' }).pass()).toMatchObject({
      status: 500,
      error: { message: 'no outer' },
    })
    const failing: Middleware = {
      name: 'failing',
      transformOutput: () => {
        throw new Error('no key')
      },
    }
    const run = runWith([failing], ({ step }) => step.run('s', () => 1))
    expect((await run.pass()).opcodes).toMatchObject([{ error: { message: 'no key' } }])
  })

  test('get the name of the event that a wait received', async () => {
    const places: InputPlace[] = []
    const middleware: Middleware[] = [
      {
        name: 'm',
        transformInput: (value, place) => {
          places.push(place)
          return value
        },
      },
    ]
    const event = { id: 'e', name: 'seen', receivedAt: 'then', data: 1 }
    const options = { data: 0, settle: () => ({ data: event }) }
    await runWith(middleware, ({ step }) => step.waitForEvent('wait', { event: 'seen' }), options).drive()
    const started = { kind: 'event', name: 'test' }
    expect(places).toEqual([started, started, { kind: 'wait', name: 'wait', eventName: 'seen' }])
  })

  test.each(['transformInput', 'transformOutput'] as const)('%s must be synchronous', async hook => {
    const middleware: Middleware[] = [{ name: 'slow', [hook]: async () => Promise.reject(new Error('unseen')) }]
    expect(await runWith(middleware, () => 1, { data: 1 }).pass()).toMatchObject({
      status: 400,
      error: { message: `Middleware slow: ${hook} returned a promise, but must be synchronous` },
    })
  })

  test('collected payloads are passed one by one', async () => {
    const workflow = createWorkflow(
      { name: 'w', batch: { maxSize: 2, timeout: 1 }, middleware: [sealing('seal')] },
      ({ event }) => event.data,
    )
    const run = new TestRun(workflow, { data: [{ seal: 1 }, { seal: 2 }] })
    expect(await run.pass()).toMatchObject({ data: { seal: [1, 2] } })
  })

  test('run before the schema of the input and after the schema of an emitted event', async () => {
    const workflow = createWorkflow(
      { name: 'w', input: z.number(), middleware: [sealing('seal')] },
      ({ event }) => event.data,
    )
    expect(await new TestRun(workflow, { data: { seal: 1 } }).pass()).toMatchObject({ data: { seal: 1 } })
  })

  test('the receipt of a checkpoint is transformed like the memo of a replay', async () => {
    const workflow = createWorkflow({ name: 'w', middleware: [sealing('seal')] }, async ({ step, ctx }) => [
      await step.run('s', () => 1),
      typeof (await ctx.uuid()),
    ])
    const handler = createHandler({ app: 'a', workflows: [workflow], signingKey: [] })
    const stored: unknown[] = []
    const checkpoint: Checkpointer = async ({ opcodes }) => {
      const reported = JSON.parse(opcodes) as { id: string; data: unknown }[]
      stored.push(...reported.map(({ data }) => data))
      return { steps: reported.map(({ id, data }) => ({ id, data })) }
    }
    const request = {
      event: { name: 'e', data: { seal: 0 } },
      steps: {},
      ctx: { runId: 'r', workflow: 'w', attempt: 1 },
    }
    const { status, body } = await handler.invoke(request, { checkpoint })
    expect({ status, data: JSON.parse(body).data }).toMatchObject({
      status: 200,
      data: { seal: [1, 'string'] },
    })
    expect(stored).toEqual([
      { seal: 1, from: 'step s' },
      { seal: expect.any(String), from: 'step ctx.uuid' },
    ])
  })

  test('results settle in the order of the memo', async () => {
    const handler = async ({ step }: WorkflowArgs) => {
      const order: string[] = []
      const branch = (name: string) => step.run(name, () => name).then(() => order.push(name))
      await Promise.all([branch('a'), branch('b'), branch('c')])
      return order
    }
    const run = runWith([sealing('seal')], handler, { data: { seal: 1 } })
    for (const name of ['c', 'a', 'b']) run.settle(name, { data: { seal: name } })
    expect(await run.pass()).toMatchObject({ data: { seal: ['c', 'a', 'b'] } })
  })
})

test.each([[[{}]], [[{ name: '' }]], ['m'], [[undefined]]])('%s is refused as middleware', middleware => {
  const wrong = middleware as unknown as Middleware[]
  expect(() => createWorkflow({ name: 'w', middleware: wrong }, () => 1)).toThrow('Workflow "w": middleware must')
  expect(() => createHandler({ app: 'a', workflows: [], middleware: wrong })).toThrow(
    'Runner of app "a": middleware must',
  )
})
