// Flow control: every policy is registered unchanged, and wrong ones do not type-check.

import { describe, expect, expectTypeOf, test } from 'vitest'
import { createWorkflow } from './create-workflow.ts'
import type { ConcurrencyLimit, FlowControl } from './flow-control.ts'
import type { Workflow, WorkflowArgs } from './workflow.ts'

interface Order {
  id: string
  total: number
}

const one = async ({ event }: WorkflowArgs<Order>) => event.data.id
const many = async ({ event }: WorkflowArgs<Order[]>) => event.data.map(({ id }) => id)

/** Every policy but `batch`, which excludes `debounce`. */
const EVERYTHING = {
  concurrency: [
    { limit: 5 },
    { limit: 1, key: 'event.data.customer' },
    { limit: 20, scope: 'app', key: '"warehouse"' },
  ],
  throttle: { limit: 10, period: '1m', burst: 2, key: 'event.data.region' },
  rateLimit: { limit: 100, period: 3_600_000, key: 'event.data.customer' },
  debounce: { period: '5s', timeout: '1m', mode: 'first', key: 'event.data.id' },
  singleton: { mode: 'cancel', key: 'event.data.id' },
  idempotency: { key: 'event.data.id', ttl: '7d' },
  priority: 'event.data.vip ? 10 : 0',
  fairness: { key: 'event.data.user', weight: 'event.data.vip ? 3 : 1' },
  timeouts: { queue: '10m', run: '2h', invoke: 30_000 },
  cancelOn: [
    { event: 'order/cancelled', if: 'async.data.id == event.data.id' },
    { event: 'order/lost', match: ['data.id', 'data.region'], timeout: '2h' },
    { event: 'shop/closed', match: { 'data.shop': 7 } },
    { event: 'all/closed', match: 'data.city' },
  ],
} satisfies Required<Omit<FlowControl, 'batch'>>

describe('is registered unchanged', () => {
  test('every policy', () => {
    const triggers = [
      { event: 'order/*', if: 'event.data.total > 0', match: { 'data.plan': 'pro' } },
      { cron: 'TZ=Europe/Vienna 0 3 * * *' },
    ]
    const { registration } = createWorkflow({ name: 'w', triggers, ...EVERYTHING }, one)
    expect(registration).toEqual({ name: 'w', triggers, ...EVERYTHING })
  })

  test.each<FlowControl>([
    { concurrency: { limit: 1 } },
    { batch: { maxSize: 50, timeout: '10s', key: 'event.data.region' } },
    { debounce: { period: 1000 } },
    { idempotency: { key: 'event.id' } },
    { singleton: { mode: 'skip' } },
  ])('%j alone', policy => {
    expect(createWorkflow({ name: 'w', ...policy }, async () => 1).registration).toEqual({
      name: 'w',
      ...policy,
    })
  })
})

test('batch and debounce together throw', () => {
  const both: FlowControl = { batch: { maxSize: 2, timeout: '1s' }, debounce: { period: '1s' } }
  expect(() => createWorkflow({ name: 'w', ...both }, async () => 1)).toThrow(
    'Workflow "w" cannot have both batch and debounce',
  )
})

describe('types', () => {
  const batch = { maxSize: 10, timeout: '1s' } as const

  test('a handler of arrays can have a batch', () => {
    const workflow = createWorkflow({ name: 'w', batch }, many)
    expectTypeOf(workflow).toEqualTypeOf<Workflow<Order[], string[]>>()
    createWorkflow<Order[]>({ name: 'w', batch })(async ({ event }) => {
      expectTypeOf(event.data).toEqualTypeOf<Order[]>()
    })
    createWorkflow({ name: 'w', debounce: { period: '1s', mode: 'all' } }, many)
  })

  test('other handlers cannot have a batch', () => {
    // @ts-expect-error the handler takes one order, a batch has many
    createWorkflow({ name: 'w', batch }, one)
    // @ts-expect-error mode `all` collects orders too
    createWorkflow({ name: 'w', debounce: { period: '1s', mode: 'all' } }, one)
    createWorkflow({ name: 'w', debounce: { period: '1s', mode: 'last' } }, one)
  })

  test('a policy is what the protocol says, and nothing else', () => {
    const options = { name: 'w' }
    // @ts-expect-error a limit is a number
    createWorkflow({ ...options, concurrency: { limit: '1' } }, one)
    // @ts-expect-error there is no such scope
    createWorkflow({ ...options, concurrency: { limit: 1, scope: 'world' } }, one)
    // @ts-expect-error a rate limit has a period
    createWorkflow({ ...options, rateLimit: { limit: 1 } }, one)
    // @ts-expect-error a singleton has a mode
    createWorkflow({ ...options, singleton: {} }, one)
    // @ts-expect-error an idempotency policy has a key
    createWorkflow({ ...options, idempotency: { ttl: '1h' } }, one)
    // @ts-expect-error a priority is an expression
    expect(() => createWorkflow({ ...options, priority: 3 }, one)).toThrow('priority must be a CEL expression')
    // @ts-expect-error there is no such timeout
    expect(() => createWorkflow({ name: 'w', timeouts: { total: '1h' } }, one)).toThrow(
      'timeouts has no option "total"',
    )
    // @ts-expect-error a trigger is an event or a schedule
    expect(() => createWorkflow({ ...options, triggers: [{ schedule: '* * * * *' }] }, one)).toThrow()
    // @ts-expect-error there is no other event that a trigger could be compared with
    expect(() => createWorkflow({ ...options, triggers: [{ event: 'a', match: 'data.id' }] }, one)).toThrow(
      'triggers.match must be an object of paths and values',
    )
    // @ts-expect-error a match compares values, no lists
    expect(() => createWorkflow({ ...options, cancelOn: [{ event: 'a', match: { 'data.id': [1] } }] }, one)).toThrow(
      'cancelOn.match must have values',
    )
    expect(() => createWorkflow({ ...options, cancelOn: [{ event: 'a', match: [] }] }, one)).toThrow(
      'cancelOn.match must have at least one path',
    )
    // @ts-expect-error cancelOn names an event
    createWorkflow({ ...options, cancelOn: [{ if: 'true' }] }, one)
    // @ts-expect-error there is no such policy
    expect(() => createWorkflow({ name: 'w', retries: 3 }, one)).toThrow('has no option "retries"')
    expectTypeOf<ConcurrencyLimit>().toEqualTypeOf<{
      limit: number
      key?: string
      scope?: 'workflow' | 'app' | 'namespace'
      hold?: 'pass' | 'run'
    }>()
  })
})
