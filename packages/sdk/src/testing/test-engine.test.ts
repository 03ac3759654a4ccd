// Starts runs, sends events, describes the state of runs, and stops the engine.

import { defineEvent } from '@perdure/client'
import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { WorkflowArgs } from '../workflow/workflow.ts'
import { RunFailedError, TestingError, testEngine } from './index.ts'
import { open } from './open.testkit.ts'

interface Order {
  order: number
}

const checkout = createWorkflow(
  { name: 'checkout', triggers: { event: 'order/created' } },
  async ({ event, step, ctx }: WorkflowArgs<Order>) => {
    const charge = await step.run('charge', ({ logger }) => {
      logger.info('charging')
      return { cents: event.data.order * 100, at: new Date(0) }
    })
    const paid = await step.waitForEvent<Order>('wait-for-payment', { event: 'order/paid', timeout: '7d' })
    ctx.logger.info('paid', { order: paid?.data.order })
    await step.emit('announce', { event: 'order/done', data: event.data })
    return { ...charge, paid: paid?.data.order ?? null }
  },
)
const audit = createWorkflow({ name: 'audit', triggers: { event: 'order/*' } }, async ({ event }) => event.name)

describe('a run', () => {
  test('goes from its event to its typed result', async () => {
    const engine = await testEngine([checkout])
    const run = await engine.start(checkout, { order: 1 })
    const parked = await run.parkedAt('wait-for-payment')
    expect(parked).toMatchObject({ op: 'WaitForEvent', status: 'waiting', eventName: 'order/paid' })
    expect(await run.status()).toBe('waiting')
    await engine.send('order/paid', { order: 1 })
    const result = await run.result()
    expectTypeOf(result).toEqualTypeOf<{ cents: number; at: string; paid: number | null }>()
    expect(result).toEqual({ cents: 100, at: '1970-01-01T00:00:00.000Z', paid: 1 })
    expect(run.executions('charge')).toBe(1)
    expect((await run.steps()).map(({ name, status }) => [name, status])).toEqual([
      ['charge', 'succeeded'],
      ['wait-for-payment', 'succeeded'],
      ['announce', 'succeeded'],
    ])
    expect(await run.step('charge')).toMatchObject({ data: { cents: 100 } })
    expect((await run.logs()).map(({ scope, message }) => [scope, message])).toEqual([
      ['charge', 'charging'],
      ['@root', 'paid'],
    ])
    expect((await engine.events()).map(({ name, source }) => [name, source])).toEqual([
      ['order/created', 'api'],
      ['order/paid', 'api'],
      ['order/done', 'emit'],
    ])
    expect(await engine.events({ name: 'order/paid' })).toHaveLength(1)
    await engine.stop()
  })

  test('that has not ended, or is parked elsewhere, rejects at once with a description of its state', async () => {
    const engine = await open([checkout])
    const run = await engine.start(checkout, { order: 1 })
    const early = run.result()
    await expect(early).rejects.toThrow(TestingError)
    await expect(early).rejects.toThrow(
      /"checkout" has not ended\..*order\/paid.*charge \(succeeded\), wait-for-payment/s,
    )
    await expect(run.parkedAt('ship')).rejects.toThrow(/is not parked at "ship"\..*wait-for-payment \(waiting\)/s)
    await engine.send('order/paid', { order: 1 })
    await expect(run.parkedAt('wait-for-payment')).rejects.toThrow(/It has succeeded/)
  })

  test('that fails rejects with its own error, its code and its step', async () => {
    const broken = createWorkflow({ name: 'broken', retry: { maxAttempts: 1 } }, async ({ step }) => {
      await step.run('reserve', () => {
        throw new RangeError('The warehouse is closed.')
      })
    })
    const engine = await testEngine([broken])
    const run = await engine.start(broken)
    await expect(run.result()).rejects.toThrow('The warehouse is closed.')
    // One full stop, although the message has its own.
    await expect(run.parkedAt('ship')).rejects.toThrow(/It has failed: The warehouse is closed\.(?!\.)/)
    const error = await run.failure()
    expect(error).toBeInstanceOf(RunFailedError)
    expect(error).toMatchObject({
      name: 'RangeError',
      code: 'step_failed',
      stepName: 'reserve',
      runId: run.id,
    })
    expect(error.stack).toContain('test-engine.test.ts')
    await engine.stop()
  })

  test('of a workflow with a schema starts with the input of the schema', async () => {
    const paid = defineEvent('paid', z.object({ cents: z.number() }))
    const book = createWorkflow(
      { name: 'book', input: z.object({ at: z.string().transform(text => new Date(text)) }) },
      async ({ event, step }) => {
        const received = await step.waitForEvent('paid', { event: paid })
        return [event.data.at.getTime(), received?.data.cents]
      },
    )
    const engine = await testEngine([book])
    const run = await engine.start(book, { at: '1970-01-01T00:00:01Z' })
    await engine.send(paid, { cents: 5 })
    expect(await run.result()).toEqual([1000, 5])
    await engine.stop()
    void (() => {
      // @ts-expect-error: the data of a typed event is checked
      void engine.send(paid, { cents: '5' })
      // @ts-expect-error: so is the input of a workflow
      void engine.start(book, { at: 5 })
    })
  })

  test('is one of all that an event starts; an event that starts none is named', async () => {
    const debounced = createWorkflow({ name: 'debounced', debounce: { period: '10s' } }, () => 1)
    const engine = await open([checkout, audit, debounced])
    const { runs, eventId } = await engine.send('order/paid', { order: 1 })
    expect(eventId).toMatch(/^evt_/)
    expect(runs.map(({ workflow }) => workflow)).toEqual(['audit'])
    expect(await runs[0]?.result()).toBe('order/paid')
    expect(await engine.runs({ workflow: audit, status: 'succeeded' })).toHaveLength(1)
    expect(await engine.runs({ workflow: 'checkout' })).toEqual([])

    await expect(engine.start(audit)).rejects.toThrow(
      'No trigger of workflow "audit" names an event without a wildcard',
    )
    const lost = await engine.start(audit, undefined, { event: 'order/lost' })
    expect(await lost.result()).toBe('order/lost')
    await expect(engine.start(checkout, { order: 1 }, { event: 'order/lost' })).rejects.toThrow(
      'Event "order/lost" started no run of "checkout": no trigger of it matches',
    )
    await expect(engine.start(debounced)).rejects.toThrow('started no run of "debounced": it was debounced')
  })
})

describe('the end of a test', () => {
  test('fails with a list of the runs that have not ended', async () => {
    const engine = await testEngine([checkout])
    const run = await engine.start(checkout, { order: 1 })
    await expect(engine.stop()).rejects.toThrow(
      new RegExp(`1 run has not ended \\(stop\\({ leaveRuns: true }\\).*${run.id} of "checkout": .*order/paid`, 's'),
    )
    await expect(run.status()).rejects.toThrow('The engine was stopped')
  })

  describe('comes automatically with `await using`', () => {
    /** Returns the next unhandled rejection, which the test runner does not see. */
    function nextUnhandled(): Promise<unknown> {
      const listeners = process.listeners('unhandledRejection')
      process.removeAllListeners('unhandledRejection')
      onTestFinished(() => {
        process.removeAllListeners('unhandledRejection')
        for (const listener of listeners) process.on('unhandledRejection', listener)
      })
      return new Promise(resolve => process.once('unhandledRejection', resolve))
    }

    test('and its error fails the test run', async () => {
      const unhandled = nextUnhandled()
      const leaking = async () => {
        await using engine = await testEngine([checkout])
        await engine.start(checkout, { order: 1 })
      }
      await leaking()
      expect(await unhandled).toMatchObject({ message: expect.stringContaining('1 run has not ended') })
    })

    test('and does not bury the error of a test that has failed', async () => {
      const unhandled = nextUnhandled()
      const failing = async () => {
        await using engine = await testEngine([checkout])
        await engine.start(checkout, { order: 1 })
        expect(1, 'the assertion').toBe(2)
      }
      await expect(failing()).rejects.toThrow(/^the assertion: expected 1 to be 2/)
      await unhandled
    })
  })
})

describe('the same seed', () => {
  const history = async (seed: number) => {
    const flaky = createWorkflow({ name: 'flaky' }, async ({ step, ctx }) => {
      await Promise.all([step.sleep('a', '1s'), step.sleep('b', '2s')])
      return step.run('try', () => {
        if (ctx.attempt < 4) throw new Error('again')
      })
    })
    const engine = await testEngine({ workflows: [flaky], seed })
    const run = await engine.start(flaky)
    await run.result({ within: '1h' })
    const records = [await run.read(), await run.steps()]
    await engine.stop()
    return JSON.stringify(records).replaceAll(/"stack":"[^"]*"/g, '')
  }

  test('gives the same history: ids, times, jitter; another seed gives another', async () => {
    const [first, again, other] = [await history(7), await history(7), await history(8)]
    expect(again).toBe(first)
    expect(other).not.toBe(first)
  })
})

describe('testEngine()', () => {
  test('says why the engine refuses a workflow', async () => {
    const bad = createWorkflow({ name: 'bad', triggers: { cron: 'every day' } }, async () => {})
    await expect(testEngine([bad])).rejects.toThrow(/refuses the workflows of app "test".*cron/s)
  })

  test('serves further apps, and routes children between them', async () => {
    const ship = createWorkflow({ name: 'ship' }, async ({ ctx }) => ctx.app)
    const sell = createWorkflow({ name: 'sell' }, ({ step }) =>
      step.runWorkflow('ship', { workflow: ship, app: 'warehouse' }),
    )
    const engine = await testEngine({ app: 'shop', workflows: [sell], apps: { warehouse: [ship] } })
    expect(await (await engine.start(sell)).result()).toBe('warehouse')
    await engine.stop()
  })

  test('applies the middleware of the runner', async () => {
    const double = createWorkflow({ name: 'double' }, ({ step }) => step.run('two', () => 2))
    const engine = await testEngine({
      workflows: [double],
      middleware: [{ name: 'times-ten', wrapStep: async ({ next }) => ((await next()) as number) * 10 }],
    })
    engine.mock('two', () => 3)
    expect(await (await engine.start(double)).result()).toBe(30)
    await engine.stop()
  })

  test('takes settings of the engine, and refuses unknown ones', async () => {
    await expect(testEngine({ workflows: [], settings: { ENGINE_NONSENSE: '1' } })).rejects.toThrow(
      'ENGINE_NONSENSE is not a setting',
    )
    await expect(testEngine({ workflows: [], startAt: 'tomorrow' })).rejects.toThrow('startAt is not a time')
  })
})
