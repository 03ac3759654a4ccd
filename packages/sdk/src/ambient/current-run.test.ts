// The run whose code is running, and the logger that follows it.

import { EventEmitter, once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { TestRun } from '../replay/engine.testkit.ts'
import { createHandler } from '../runner/handler.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { WorkflowArgs } from '../workflow/workflow.ts'
import { currentRun } from './current-run.ts'
import { log, logOutsideTo } from './log.ts'

/** A function of a library that knows nothing about the run. */
const where = () => currentRun()?.ctx.runId

const runOf = (handler: (args: WorkflowArgs) => unknown, runId = 'run_1') =>
  new TestRun(createWorkflow({ name: 'w' }, handler), { ctx: { runId, features: ['attributes'] }, data: { n: 1 } })

describe('currentRun', () => {
  test('finds the run in handlers and callbacks, after awaits, timers and emitted events', async () => {
    const seen: unknown[] = []
    const run = runOf(async ({ step, ctx, event }) => {
      seen.push(currentRun()?.ctx === ctx, currentRun()?.step === step, currentRun()?.event === event)
      await step.run('a', async () => {
        seen.push(where())
        await setTimeout(1)
        seen.push(where())
        const emitter = new EventEmitter()
        queueMicrotask(() => emitter.emit('ready', where()))
        seen.push(...(await once(emitter, 'ready')))
      })
      seen.push(where())
      const values = await Promise.all([1, 2].map(n => step.run(`b${n}`, () => [where(), n])))
      await step.map('c', [1], async () => void seen.push(where()))
      return [where(), values]
    })
    const last = await run.drive()
    const values = [1, 2].map(n => ['run_1', n])
    expect(last).toMatchObject({ status: 200, data: ['run_1', values] })
    expect(seen.filter(one => one !== true && one !== 'run_1')).toEqual([])
    expect(where()).toBeUndefined()
  })

  test('keeps two runs in one process apart', async () => {
    const both = ['run_a', 'run_b'].map(id =>
      runOf(async ({ step }) => {
        const inside = await step.run('s', () => setTimeout(1).then(where))
        return [inside, where()]
      }, id),
    )
    const ends = await Promise.all(both.map(run => run.drive()))
    expect(ends.map(({ data }) => data)).toEqual([
      ['run_a', 'run_a'],
      ['run_b', 'run_b'],
    ])
  })

  test('works in middleware, with the event before and after parsing', async () => {
    const seen: unknown[] = []
    const data = () => currentRun()?.event.data
    const noting = ({ next }: { next(): Promise<unknown> }) => {
      seen.push(data())
      return next()
    }
    const middleware = [{ name: 'noting', wrapRun: noting, wrapStep: noting }]
    const input = z.object({ n: z.number().transform(String) })
    const workflow = createWorkflow({ name: 'w', input, middleware }, ({ step }) => step.run('s', data))
    const run = new TestRun(workflow as never, { data: { n: 1 }, ctx: { features: ['end-with-steps'] } })
    expect((await run.drive()).data).toEqual({ n: '1' })
    expect(seen).toEqual([{ n: 1 }, { n: '1' }])
  })

  test('sets attributes of the run', async () => {
    const run = runOf(() => currentRun()?.attributes({ plan: 'pro' }))
    expect(await run.drive()).toMatchObject({ attributes: { plan: 'pro' } })
  })
})

describe('log', () => {
  test('writes to the log of the run inside of one, by step, and to the given logger outside', async () => {
    const given = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
    const charge = () => log.info('charging', { cents: 5 })
    const workflow = createWorkflow({ name: 'w' }, async ({ step }) => {
      log.debug('begins')
      await step.run('charge', charge)
    })
    const run = new TestRun(workflow)
    await run.drive()
    createHandler({ app: 'a', workflows: [workflow], signingKey: [], log: given })
    const lines = run.passes.flatMap(({ logs }) => logs)
    expect(lines).toContainEqual(expect.objectContaining({ scope: '@root', level: 'debug', message: 'begins' }))
    expect(lines).toContainEqual(expect.objectContaining({ scope: 'charge', level: 'info', fields: { cents: 5 } }))
    charge()
    log.debug({ n: 1 }, 'fields first, as pino takes them')
    expect(given.info.mock.calls).toEqual([
      ['charging', { cents: 5 }],
      [{ n: 1 }, 'fields first, as pino takes them'],
    ])
    const texts: string[] = []
    logOutsideTo((level, message) => texts.push(`${level} ${message}`))
    log.error('lost', { orderId: 'A-1' })
    log.warn(new Error('no stock'))
    expect(texts[0]).toBe("error lost { orderId: 'A-1' }")
    expect(texts[1]).toMatch(/^warn no stock Error: no stock/)
    logOutsideTo(console)
  })
})
