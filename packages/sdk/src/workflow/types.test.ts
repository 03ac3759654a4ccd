// The types that handlers, steps and clients get from schemas and typed events. Most of it is only type-checked.

import { type Client, defineEvent, type NoBigInt } from '@perdure/client'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { ReceivedEvent } from '../run/run-context.ts'
import type { RunFailure } from '../wire/errors.ts'
import { createWorkflow } from './create-workflow.ts'
import type { CronData, RunEndedData } from './triggers.ts'
import type { DataOf, InputOf, OutputOf, StepTools, WorkflowArgs } from './workflow.ts'

const orderSchema = z.object({ id: z.string(), at: z.coerce.date(), note: z.string().default('') })
type Order = { id: string; at: Date; note: string }

const paid = defineEvent('order/paid', z.object({ cents: z.string().transform(Number) }))
const refunded = defineEvent('order/refunded', v.object({ reason: v.string() }))
const anyUser = defineEvent('user/*', type({ userId: 'string' }))

describe('input', () => {
  test('event.data has the output type of the schema, and the result is inferred', () => {
    const workflow = createWorkflow({ name: 'w', input: orderSchema }, async ({ event }) => {
      expectTypeOf(event.data).toEqualTypeOf<Order>()
      return { noted: event.data.note.length }
    })
    expectTypeOf<InputOf<typeof workflow>>().toEqualTypeOf<Order>()
    expectTypeOf<DataOf<typeof workflow>>().toEqualTypeOf<z.input<typeof orderSchema>>()
    expectTypeOf<OutputOf<typeof workflow>>().toEqualTypeOf<{ noted: number }>()
  })

  test('schemas of valibot and arktype work the same', () => {
    createWorkflow({ name: 'w', input: v.object({ n: v.optional(v.number(), 1) }) }, ({ event }) => {
      expectTypeOf(event.data).toEqualTypeOf<{ n: number }>()
    })
    createWorkflow({ name: 'w', input: type({ n: 'string.numeric.parse' }) }, ({ event }) => {
      expectTypeOf(event.data).toEqualTypeOf<{ n: number }>()
    })
  })

  test('works with every other option; an on-failure handler gets unvalidated data', () => {
    const workflow = createWorkflow(
      {
        name: 'w',
        input: orderSchema,
        triggers: [{ event: 'a' }, paid],
        concurrency: { limit: 1 },
        onFailure: ({ event, error }) => {
          // Not validated: it has the type that senders give it, unless a trigger without a type starts the workflow.
          expectTypeOf(event.data).toEqualTypeOf<z.input<typeof orderSchema>>()
          expectTypeOf(error).toEqualTypeOf<RunFailure>()
          expectTypeOf(error).toExtend<Error>()
        },
      },
      async ({ event: { data } }) => data.id,
    )
    expectTypeOf<InputOf<typeof workflow>>().toEqualTypeOf<Order>()
  })

  test('a workflow collects events only if its schema is an array', () => {
    const batch = { maxSize: 2, timeout: '1s' } as const
    createWorkflow({ name: 'w', input: z.array(orderSchema), batch }, ({ event }) => {
      expectTypeOf(event.data).toEqualTypeOf<Order[]>()
    })
    // @ts-expect-error collected events are an array
    createWorkflow({ name: 'w', input: orderSchema, batch }, () => 1)
  })
})

describe('typed events as triggers', () => {
  test('one event gives its data and its name', () => {
    const workflow = createWorkflow({ name: 'w', triggers: paid }, async ({ event }) => {
      expectTypeOf(event.name).toEqualTypeOf<'order/paid'>()
      expectTypeOf(event.data).toEqualTypeOf<{ cents: number }>()
      return event.data.cents
    })
    expectTypeOf<InputOf<typeof workflow>>().toEqualTypeOf<{ cents: number }>()
    expectTypeOf<DataOf<typeof workflow>>().toEqualTypeOf<{ cents: string }>()
    expectTypeOf<OutputOf<typeof workflow>>().toEqualTypeOf<number>()
  })

  test('several events make a union that the name discriminates', () => {
    const triggers = [
      { event: paid, if: 'event.data.cents != "0"' },
      refunded,
      anyUser,
      { event: 'plain' },
      { cron: '0 * * * *' },
    ] as const
    createWorkflow({ name: 'w', triggers: [...triggers] }, async ({ event }) => {
      switch (event.name) {
        case 'order/paid':
          expectTypeOf(event.data).toEqualTypeOf<{ cents: number }>()
          break
        case 'order/refunded':
          expectTypeOf(event.data).toEqualTypeOf<{ reason: string }>()
          break
        case 'plain':
          expectTypeOf(event.data).toBeUnknown()
          break
        case 'engine/cron':
          expectTypeOf(event.data).toEqualTypeOf<CronData>()
          break
        default:
          expectTypeOf(event.name).toEqualTypeOf<`user/${string}`>()
          expectTypeOf(event.data).toEqualTypeOf<{ userId: string }>()
      }
    })
  })

  test('inline definitions are inferred as well', () => {
    createWorkflow({ name: 'w', triggers: [paid, { event: 'plain' }] }, async ({ event }) => {
      expectTypeOf(event.name).toEqualTypeOf<'order/paid' | 'plain'>()
      if (event.name === 'order/paid') expectTypeOf(event.data).toEqualTypeOf<{ cents: number }>()
    })
  })

  test('events of the engine have the data of a run that has ended', () => {
    createWorkflow({ name: 'w', triggers: { event: 'perdure/run.failed', if: 'true' } }, ({ event }) => {
      expectTypeOf(event.name).toEqualTypeOf<'perdure/run.failed'>()
      expectTypeOf(event.data).toEqualTypeOf<RunEndedData<'failed'>>()
      expectTypeOf(event.data.error?.message).toEqualTypeOf<string | undefined>()
    })
    createWorkflow({ name: 'w', triggers: [{ event: 'perdure/run.*' }, { cron: '0 * * * *' }] }, ({ event }) => {
      expectTypeOf(event.data).toEqualTypeOf<RunEndedData | CronData>()
    })
    const batch = { maxSize: 2, timeout: '1s' } as const
    createWorkflow({ name: 'w', triggers: { event: 'perdure/run.cancelled' }, batch }, ({ event }) => {
      expectTypeOf(event.data).toEqualTypeOf<RunEndedData<'cancelled'>[]>()
    })
    createWorkflow({ name: 'w', triggers: [{ event: 'perdure/run.failed' }, { event: 'plain' }] }, ({ event }) => {
      expectTypeOf(event.data).toBeUnknown()
    })
  })

  test('the status of an awaited run tells whether it has a result or an error', () => {
    createWorkflow({ name: 'w' }, async ({ step }) => {
      const end = await step.waitForRun<{ cents: number }>('end', { runId: 'run_1' })
      if (end === null) return
      expectTypeOf(end.result).toEqualTypeOf<{ cents: number } | undefined>()
      if (end.status === 'succeeded') expectTypeOf(end.result.cents).toBeNumber()
      if (end.status === 'failed') expectTypeOf(end.error.message).toBeString()
    })
  })

  test('collected events are an array', () => {
    createWorkflow(
      { name: 'w', triggers: [paid, refunded], batch: { maxSize: 2, timeout: '1s' } },
      async ({ event }) => {
        expectTypeOf(event.data).toEqualTypeOf<({ cents: number } | { reason: string })[]>()
      },
    )
    createWorkflow({ name: 'w', triggers: paid, debounce: { period: '1s', mode: 'all' } }, async ({ event }) => {
      expectTypeOf(event.data).toEqualTypeOf<{ cents: number }[]>()
    })
    createWorkflow({ name: 'w', triggers: paid, debounce: { period: '1s' } }, async ({ event }) => {
      expectTypeOf(event.data).toEqualTypeOf<{ cents: number }>()
    })
  })

  test('an annotated handler must match them', () => {
    createWorkflow({ name: 'w', triggers: paid }, async ({ event }: WorkflowArgs<{ cents: number }>) => event)
    // @ts-expect-error the event has no such data
    createWorkflow({ name: 'w', triggers: paid }, async ({ event }: WorkflowArgs<{ euros: number }>) => event)
  })
})

describe('steps and clients', () => {
  const child = createWorkflow({ name: 'c', input: orderSchema }, async ({ event }) => ({
    at: event.data.at,
  }))

  test('waits, emits and children have the types of the schema', () => {
    const calls = (step: StepTools) => [
      expectTypeOf(step.waitForEvent('a', { event: paid, timeout: '1s' })).toEqualTypeOf<
        Promise<ReceivedEvent<{ cents: number }, 'order/paid'> | null>
      >(),
      step.emit('a', { event: paid, data: { cents: '1' } }),
      step.emit('a', { event: 'plain', data: 1 }),
      step.emit('a', { event: defineEvent('e', z.string().optional()) }),
      // @ts-expect-error what is sent is the schema's input
      step.emit('a', { event: paid, data: { cents: 1 } }),
      // @ts-expect-error the data is required
      step.emit('a', { event: paid }),
      expectTypeOf(step.runWorkflow('a', { workflow: child, data: { id: 'x', at: '2026-01-01' } })).toEqualTypeOf<
        Promise<{ at: string }>
      >(),
      // @ts-expect-error the id is a string
      step.runWorkflow('a', { workflow: child, data: { id: 1, at: '2026-01-01' } }),
      // @ts-expect-error the data is required
      step.runWorkflow('a', { workflow: child }),
    ]
    expect(calls).toBeTypeOf('function')
  })

  test('the client sends the input of the schema', () => {
    const calls = (client: Client) => [
      client.send(paid, { cents: '1' }),
      client.send(paid, { cents: '1' }, { dedupeId: 'd', timeoutMs: 5 }),
      client.send({ name: 'plain', data: 1 }, { timeoutMs: 5 }),
      client.send(defineEvent('e', z.string().optional())),
      // @ts-expect-error not the output
      client.send(paid, { cents: 1 }),
      // @ts-expect-error the data is required
      client.send(paid),
    ]
    expect(calls).toBeTypeOf('function')
  })
})

describe('what needs no annotation', () => {
  const cancelled = defineEvent('order/cancelled', z.object({ id: z.string() }))

  test('a workflow with schedules only', () => {
    const workflow = createWorkflow({ name: 'w', triggers: { cron: '0 9 * * *' } }, async ({ event }) => {
      expectTypeOf(event.name).toEqualTypeOf<'engine/cron'>()
      expectTypeOf(event.data).toEqualTypeOf<CronData>()
      return event.data.scheduledAt
    })
    expectTypeOf<OutputOf<typeof workflow>>().toEqualTypeOf<string>()
    createWorkflow({ name: 'w', triggers: [{ cron: '0 9 * * *' }, { cron: '0 18 * * *' }] }, ({ event }) => {
      expectTypeOf(event.data).toEqualTypeOf<CronData>()
    })
    createWorkflow({ name: 'w', triggers: [{ cron: '0 9 * * *' }, { event: 'x' }] }, ({ event }) => {
      expectTypeOf(event.data).toBeUnknown()
    })
    const start = (step: StepTools) => step.runWorkflow('a', { workflow })
    expect(start).toBeTypeOf('function')
  })

  test('collected events without a type are an array', () => {
    createWorkflow({ name: 'w', batch: { maxSize: 2, timeout: '1s' } }, async ({ event }) => {
      expectTypeOf(event.data).toEqualTypeOf<unknown[]>()
      return event.data.length
    })
    createWorkflow({ name: 'w', debounce: { period: '1s', mode: 'all' }, triggers: { event: 'x' } }, ({ event }) => {
      expectTypeOf(event.data).toEqualTypeOf<unknown[]>()
    })
    const annotated = createWorkflow(
      { name: 'w', batch: { maxSize: 2, timeout: '1s' } },
      async ({ event }: WorkflowArgs<Order[]>) => event.data.length,
    )
    expectTypeOf<InputOf<typeof annotated>>().toEqualTypeOf<Order[]>()
  })

  test('the data of a failed run', () => {
    createWorkflow(
      {
        name: 'w',
        triggers: paid,
        onFailure: ({ event }) => expectTypeOf(event.data).toEqualTypeOf<{ cents: string }>(),
        onCancel: ({ event, steps }) => {
          expectTypeOf(event.data).toEqualTypeOf<{ cents: string }>()
          expectTypeOf(steps).toEqualTypeOf<Readonly<Record<string, unknown>>>()
        },
      },
      () => 1,
    )
    createWorkflow(
      {
        name: 'w',
        triggers: [{ event: 'perdure/run.*' }, { cron: '0 * * * *' }],
        onFailure: ({ event }) => expectTypeOf(event.data).toEqualTypeOf<RunEndedData | CronData>(),
      },
      () => 1,
    )
    createWorkflow(
      {
        name: 'w',
        triggers: [paid],
        batch: { maxSize: 2, timeout: '1s' },
        onFailure: ({ event }) => expectTypeOf(event.data).toEqualTypeOf<{ cents: string }[]>(),
      },
      () => 1,
    )
    createWorkflow(
      {
        name: 'w',
        triggers: [paid, { event: 'plain' }],
        onFailure: ({ event }) => expectTypeOf(event.data).toBeUnknown(),
      },
      () => 1,
    )
    createWorkflow(
      { name: 'w', onFailure: ({ event }) => expectTypeOf(event.data).toEqualTypeOf<Order>() },
      ({ event }: WorkflowArgs<Order>) => event.data.id,
    )
  })

  test('a rollback gets the result as it is stored', () => {
    createWorkflow({ name: 'w' }, async ({ step }) => {
      const charged = await step.run('charge', () => Promise.resolve({ at: new Date(), cents: 1 }), {
        rollback: (result, { idempotencyKey }) => {
          expectTypeOf(result).toEqualTypeOf<{ at: string; cents: number }>()
          expectTypeOf(idempotencyKey).toBeString()
        },
      })
      expectTypeOf(charged).toEqualTypeOf<{ at: string; cents: number }>()
      const withContext = await step.run('ship', async ({ signal }) => signal.aborted, {
        rollback: async result => expectTypeOf(result).toBeBoolean(),
      })
      expectTypeOf(withContext).toBeBoolean()
      const mapped = await step.map('item', [1, 2], item => ({ item }), {
        rollback: result => expectTypeOf(result).toEqualTypeOf<{ item: number }>(),
      })
      expectTypeOf(mapped).toEqualTypeOf<{ item: number }[]>()
      // @ts-expect-error the result is a number
      await step.run('count', () => 1, { rollback: (result: string) => result })
    })
  })

  test('definitions stand in cancelOn', () => {
    const { registration } = createWorkflow(
      { name: 'w', cancelOn: [cancelled, { event: cancelled, if: 'async.data.id == event.data.id' }, { event: 'x' }] },
      () => 1,
    )
    expect(registration.cancelOn).toEqual([
      { event: 'order/cancelled' },
      { event: 'order/cancelled', if: 'async.data.id == event.data.id' },
      { event: 'x' },
    ])
  })

  test('a BigInt in the result of a step is a type error where it is used, and helpers may be generic', () => {
    const sum = async (step: StepTools) => {
      const one = await step.run('a', () => 1n)
      const order = await step.run('b', async () => ({ total: 2n, lines: [3n] }))
      expectTypeOf(order).toEqualTypeOf<{ total: NoBigInt; lines: NoBigInt[] }>()
      // @ts-expect-error JSON has no BigInt
      return one + order.total
    }
    const traced = <T>(step: StepTools, call: () => Promise<T>) => step.run('a', call)
    expect([sum, traced]).toHaveLength(2)
  })
})
