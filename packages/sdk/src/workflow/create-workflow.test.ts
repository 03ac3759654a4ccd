// `createWorkflow()`: registrations, refused options, and inferred types.

import { describe, expect, expectTypeOf, test } from 'vitest'
import type { ReceivedEvent } from '../run/run-context.ts'
import { createWorkflow, type WorkflowOptions } from './create-workflow.ts'
import type { InputOf, OutputOf, Workflow, WorkflowArgs } from './workflow.ts'

const handler = async () => undefined

test('how failures of the handler are handled is registered', () => {
  const options = { handlerRetries: 2, whenExhausted: 'pause' } as const
  expect(createWorkflow({ name: 'flow', ...options }, () => 1).registration).toMatchObject(options)
})

describe('the registration', () => {
  test('has only the name when nothing else is given', () => {
    expect(createWorkflow({ name: 'w' }, handler).registration).toEqual({ name: 'w' })
  })

  test('has triggers, policies and the flag of an on-failure handler', () => {
    const options: WorkflowOptions = {
      name: 'w',
      triggers: [{ event: 'order.*', if: 'event.data.total > 10' }, { cron: '0 * * * *' }],
      retry: { maxAttempts: 3, initialMs: 100 },
      timeouts: { run: '1h' },
      concurrency: { limit: 2, key: 'event.data.user' },
      onFailure: () => undefined,
    }
    const { onFailure, ...registered } = options
    expect(createWorkflow(options, handler).registration).toEqual({ ...registered, onFailure: true })
  })

  test('takes a single trigger', () => {
    const { registration } = createWorkflow({ name: 'w', triggers: { event: 'a' } }, handler)
    expect(registration.triggers).toEqual([{ event: 'a' }])
  })
})

describe('an invalid definition throws', () => {
  test.each([
    ['a blank name', { name: ' ' }, "A workflow's name must be a string of 1 to 256 characters"],
    ['a long name', { name: 'n'.repeat(257) }, "A workflow's name must be"],
    ['an empty trigger', { name: 'w', triggers: [{}] }, 'A trigger of workflow "w" needs either'],
    ['a double trigger', { name: 'w', triggers: [{ event: 'a', cron: '* * * * *' }] }, 'A trigger of workflow "w"'],
  ])('%s', (_, options, message) => {
    expect(() => createWorkflow(options as WorkflowOptions, handler)).toThrow(message)
  })

  test('no handler', () => {
    expect(() => createWorkflow({ name: 'w' })(undefined as never)).toThrow('Workflow "w" has no handler')
  })
})

interface Order {
  id: string
  total: number
}

describe('types', () => {
  test('an annotated argument types input and result', () => {
    const workflow = createWorkflow({ name: 'w' }, async ({ event }: WorkflowArgs<Order>) => ({
      paid: event.data.total,
    }))
    expectTypeOf(workflow).toEqualTypeOf<Workflow<Order, { paid: number }>>()
    expectTypeOf<InputOf<typeof workflow>>().toEqualTypeOf<Order>()
    expectTypeOf<OutputOf<typeof workflow>>().toEqualTypeOf<{ paid: number }>()
  })

  test('the two-part form types both with one type argument, and defines the same', () => {
    const workflow = createWorkflow<Order>({ name: 'w' })(async ({ event }) => event.data.id)
    expectTypeOf(workflow).toEqualTypeOf<Workflow<Order, string>>()
    expect(workflow).toEqual(createWorkflow({ name: 'w' }, workflow.handler))
  })

  test('one type argument types the event; the result is then unknown', () => {
    const workflow = createWorkflow<Order>(
      { name: 'w', onFailure: ({ event, error }) => `${event.data.id} ${error.message}` },
      async ({ event }) => {
        expectTypeOf(event.data).toEqualTypeOf<Order>()
      },
    )
    expectTypeOf(workflow).toEqualTypeOf<Workflow<Order, unknown>>()
  })

  test('without type arguments, data is unknown and the result inferred', () => {
    const workflow = createWorkflow({ name: 'w' }, async ({ event }) => {
      expectTypeOf(event.data).toBeUnknown()
      return 1
    })
    expectTypeOf(workflow).toEqualTypeOf<Workflow<unknown, number>>()
  })

  test('every step result has the type of the stored value', () => {
    const child = createWorkflow({ name: 'c' }, async ({ event }: WorkflowArgs<Order>) => ({
      at: new Date(),
      ...event.data,
    }))
    createWorkflow({ name: 'w' }, async ({ step }) => {
      expectTypeOf(await step.run('a', () => 1)).toEqualTypeOf<number>()
      expectTypeOf(await step.run('a', async () => ({ s: 'x' }))).toEqualTypeOf<{ s: string }>()
      expectTypeOf(await step.run('a', async () => {})).toEqualTypeOf<void>()
      expectTypeOf(await step.run('a', (): string | undefined => 'x')).toEqualTypeOf<string | null>()
      expectTypeOf(await step.run('a', () => ({ at: new Date() }))).toEqualTypeOf<{ at: string }>()
      expectTypeOf(await step.sleep('a', '1s')).toEqualTypeOf<void>()
      expectTypeOf(await step.waitForEvent<Order>('a', { event: 'e' })).toEqualTypeOf<ReceivedEvent<Order> | null>()
      const result = await step.runWorkflow('a', { workflow: child, data: { id: 'o', total: 1 } })
      expectTypeOf(result).toEqualTypeOf<{ at: string; id: string; total: number }>()
      expectTypeOf(await step.runWorkflow('a', { workflow: 'c' })).toBeUnknown()
      expectTypeOf(await step.runWorkflow<number>('a', { workflow: 'c' })).toEqualTypeOf<number>()
      expectTypeOf(await Promise.all([step.run('a', () => 1), step.run('b', () => 'x')])).toEqualTypeOf<
        [number, string]
      >()
      // @ts-expect-error the child's input is an Order
      void step.runWorkflow('a', { workflow: child, data: { id: 1 } })
      // @ts-expect-error the child's input is required
      void step.runWorkflow('a', { workflow: child })
    })
  })
})
