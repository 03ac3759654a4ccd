// Schemas at run time: input is validated when a pass begins, events when they are received and emitted.

import { defineEvent } from '@perdure/client'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Settle, TestRun } from '../replay/engine.testkit.ts'
import { createWorkflow } from './create-workflow.ts'
import type { Workflow } from './workflow.ts'

const zodOrder = z.object({ items: z.array(z.object({ sku: z.string() })), at: z.coerce.date() })
const good = { items: [{ sku: 'a' }], at: '2026-01-02T03:04:05.000Z' }
const bad = { items: [{ sku: 1 }], at: '2026-01-02T03:04:05.000Z' }

const schemas = {
  zod: zodOrder,
  valibot: v.object({
    items: v.array(v.object({ sku: v.string() })),
    at: v.pipe(
      v.string(),
      v.transform(text => new Date(text)),
    ),
  }),
  arktype: type({ items: type({ sku: 'string' }).array(), at: 'string.date.parse' }),
}

describe("a workflow's input", () => {
  test.each(Object.entries(schemas))('%s: the handler gets the output of the schema', async (_, input) => {
    const workflow = createWorkflow({ name: 'w', input: input as typeof zodOrder }, ({ event }) => ({
      sku: event.data.items[0]?.sku,
      year: event.data.at.getUTCFullYear(),
    }))
    expect(await new TestRun(workflow, { data: good }).drive()).toMatchObject({
      status: 200,
      data: { sku: 'a', year: 2026 },
    })
  })

  test.each(Object.entries(schemas))(
    '%s: invalid data fails the run without a retry and names the path',
    async (_, input) => {
      let called = false
      const workflow = createWorkflow({ name: 'w', input: input as typeof zodOrder }, () => {
        called = true
      })
      const { status, error } = await new TestRun(workflow, { data: bad }).pass()
      expect({ status, name: error?.name, called }).toEqual({
        status: 400,
        name: 'InvalidDataError',
        called: false,
      })
      expect(error?.message).toMatch(/^The input of workflow "w" is invalid: data\.items\.0\.sku: ./)
    },
  )

  test('may be validated asynchronously, on every pass', async () => {
    let validations = 0
    const input = v.pipeAsync(
      v.object({ id: v.string() }),
      v.checkAsync(async () => {
        validations++
        return true
      }),
    )
    const workflow = createWorkflow({ name: 'w', input }, async ({ event, step }) => step.run('a', () => event.data.id))
    expect(await new TestRun(workflow, { data: { id: 'x' } }).drive()).toMatchObject({ data: 'x' })
    expect(validations).toBe(2)
  })

  test('a schema that throws does not fail the run: the pass is retried', async () => {
    const input = v.pipe(
      v.unknown(),
      v.check(() => {
        throw new Error('no connection')
      }),
    )
    const workflow = createWorkflow({ name: 'w', input }, () => 1)
    expect(await new TestRun(workflow, { data: 1 }).pass()).toMatchObject({
      status: 500,
      error: { message: 'no connection' },
    })
  })

  test('issues are bounded in number and length', async () => {
    const wide = z.object(
      Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}`, z.string('m'.repeat(999))])),
    )
    const { error } = await new TestRun(
      createWorkflow({ name: 'w', input: wide }, () => 1),
      { data: {} },
    ).pass()
    expect(error?.message).toContain('; and 10 more')
    expect(error?.message.length).toBeLessThan(20 * 350)
  })

  test('an on-failure handler gets the data unvalidated', async () => {
    const workflow = createWorkflow({ name: 'w', input: zodOrder, onFailure: ({ event }) => event.data }, () => 1)
    const run = new TestRun(workflow, { data: bad, ctx: { onFailure: true, error: { message: 'x' } } })
    expect(await run.pass()).toMatchObject({ status: 200, data: bad })
  })

  test.each([[{}], [() => 1], ['schema'], [null]])('%s is refused as a schema', input => {
    expect(() => createWorkflow({ name: 'w', input: input as unknown as typeof zodOrder }, () => 1)).toThrow(
      'Workflow "w": input must be a Standard Schema',
    )
    expect(() => defineEvent('e', input as unknown as typeof zodOrder)).toThrow(
      'The schema of event "e" is not a Standard Schema',
    )
  })
})

const paid = defineEvent('order/paid', z.object({ cents: z.string().transform(Number) }))
const refunded = defineEvent('order/refunded', v.object({ reason: v.string() }))

describe('triggers', () => {
  const parsed = (workflow: Workflow<never, unknown>, name: string, data: unknown) =>
    workflow.parseEvent?.({ name, data })

  test('typed events are registered by their names', () => {
    const triggers = [paid, { event: refunded, if: 'true' }, { event: 'x' }, { cron: '* * * * *' }] as const
    expect(createWorkflow({ name: 'w', triggers: [...triggers] }, () => 1).registration).toEqual({
      name: 'w',
      triggers: [
        { event: 'order/paid' },
        { event: 'order/refunded', if: 'true' },
        { event: 'x' },
        { cron: '* * * * *' },
      ],
    })
    expect(createWorkflow({ name: 'w', triggers: paid }, () => 1).registration.triggers).toEqual([
      { event: 'order/paid' },
    ])
  })

  test('each event is validated with the schema of its name', async () => {
    const workflow = createWorkflow({ name: 'w', triggers: [paid, refunded, { event: 'free' }] }, () => 1)
    expect(await parsed(workflow, 'order/paid', { cents: '7' })).toEqual({
      name: 'order/paid',
      data: { cents: 7 },
    })
    await expect(parsed(workflow, 'order/paid', { reason: 'x' })).rejects.toThrow(
      'The input of workflow "w" (event "order/paid") is invalid: data.cents: ',
    )
    expect(await parsed(workflow, 'free', 1)).toEqual({ name: 'free', data: 1 })
  })

  test('a trailing star validates all names it matches', async () => {
    const workflow = createWorkflow({ name: 'w', triggers: defineEvent('user/*', z.string()) }, () => 1)
    expect(await parsed(workflow, 'user/seen', 'u')).toEqual({ name: 'user/seen', data: 'u' })
    await expect(parsed(workflow, 'user/gone', 1)).rejects.toThrow('data: ')
  })

  test('a run without a trigger gets the name of the event whose schema accepts its data', async () => {
    const workflow = createWorkflow({ name: 'w', triggers: [paid, refunded, { cron: '* * * * *' }] }, () => 1)
    expect(await parsed(workflow, 'w', { reason: 'x' })).toEqual({
      name: 'order/refunded',
      data: { reason: 'x' },
    })
    const cron = { cron: '* * * * *', scheduledAt: 'now' }
    expect(await parsed(workflow, 'engine/cron', cron)).toEqual({ name: 'engine/cron', data: cron })
    await expect(parsed(workflow, 'w', {})).rejects.toThrow('(event "order/paid") is invalid: data.cents')
  })

  test('a schema that throws is not skipped in favour of the next one', async () => {
    const broken = defineEvent(
      'broken',
      v.pipe(
        v.unknown(),
        v.check(() => {
          throw new Error('no connection')
        }),
      ),
    )
    const workflow = createWorkflow({ name: 'w', triggers: [broken, refunded] }, () => 1)
    await expect(parsed(workflow, 'w', { reason: 'x' })).rejects.toThrow('no connection')
  })

  test('collected payloads are validated one by one, for any of the events', async () => {
    const options = { name: 'w', triggers: [paid, refunded], batch: { maxSize: 2, timeout: 1 } } as const
    const workflow = createWorkflow({ ...options, triggers: [paid, refunded] }, () => 1)
    expect(await parsed(workflow, 'order/paid', [{ reason: 'x' }, { cents: '1' }])).toMatchObject({
      data: [{ reason: 'x' }, { cents: 1 }],
    })
    await expect(parsed(workflow, 'order/paid', [{ cents: '1' }, {}])).rejects.toThrow('data.1.cents: ')
    await expect(parsed(workflow, 'order/paid', {})).rejects.toThrow('data: not an array')
  })

  test('without a schema nothing is validated', () => {
    expect(createWorkflow({ name: 'w', triggers: { event: 'a' } }, () => 1).parseEvent).toBeUndefined()
  })
})

describe('a wait for a typed event', () => {
  const settle =
    (data: unknown): Settle =>
    () => ({ data: { id: 'evt_2', name: 'order/paid', receivedAt: 'then', data } })
  const waiting = createWorkflow({ name: 'w' }, async ({ step }) => {
    const event = await step.waitForEvent('wait', { event: paid, timeout: '1h' })
    return event && event.data.cents + 1
  })

  test('sends the name of the event and returns the output of its schema', async () => {
    const run = new TestRun(waiting, { settle: settle({ cents: '41' }) })
    expect(await run.drive()).toMatchObject({ status: 200, data: 42 })
    expect(run.passes[0]?.opcodes).toMatchObject([{ eventName: 'order/paid', timeoutMs: 3_600_000 }])
  })

  test('returns null when it timed out', async () => {
    expect(await new TestRun(waiting, { settle: () => ({ data: null }) }).drive()).toMatchObject({
      data: null,
    })
  })

  test('rejects without a retry when the data is invalid', async () => {
    expect(await new TestRun(waiting, { settle: settle({ cents: 1 }) }).drive()).toMatchObject({
      status: 400,
      error: {
        name: 'InvalidDataError',
        message: expect.stringMatching(/^The event "order\/paid" of step "wait" is invalid: data\.cents: /),
      },
    })
  })

  test('refuses an asynchronous schema', async () => {
    const slow = defineEvent(
      'slow',
      z.string().refine(async () => false),
    )
    const workflow = createWorkflow({ name: 'w' }, ({ step }) => step.waitForEvent('wait', { event: slow }))
    expect(await new TestRun(workflow, { settle: settle('x') }).drive()).toMatchObject({
      status: 400,
      error: { message: expect.stringContaining('its schema is asynchronous') },
    })
  })
})

describe('an emit of a typed event', () => {
  test('sends the data unchanged and not the output of the schema', async () => {
    const workflow = createWorkflow({ name: 'w' }, ({ step }) =>
      step.emit('announce', { event: paid, data: { cents: '1' } }),
    )
    expect((await new TestRun(workflow).pass()).opcodes).toMatchObject([
      { op: 'Emit', eventName: 'order/paid', data: { cents: '1' } },
    ])
  })

  test('is refused without a retry when the receivers would refuse it', async () => {
    const dated = defineEvent('dated', z.object({ at: z.date() }))
    const workflow = createWorkflow({ name: 'w' }, ({ step }) =>
      step.emit('announce', { event: dated, data: { at: new Date(0) } }),
    )
    expect(await new TestRun(workflow).drive()).toMatchObject({
      status: 400,
      opcodes: [],
      error: {
        message: expect.stringMatching(/^The event "dated" of step "announce" is invalid: data\.at: /),
      },
    })
  })

  test('is refused when it has no JSON form, by the encoder', async () => {
    const big = defineEvent('big', z.bigint())
    const workflow = createWorkflow({ name: 'w' }, ({ step }) => step.emit('announce', { event: big, data: 1n }))
    expect((await new TestRun(workflow).drive()).error?.message).toContain('cannot be stored as JSON')
  })
})
