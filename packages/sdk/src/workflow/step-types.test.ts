// The types of durations, retry policies, signals, starts and collected events, as an editor shows them. Most of it is only type-checked.

import type { Client, RunHandle, UpdateOptions } from '@perdure/client'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { type CurrentRun, currentRun } from '../ambient/current-run.ts'
import type { Logger } from '../run/logger.ts'
import type { BatchEvent, ReceivedEvent, ReceivedSignal } from '../run/run-context.ts'
import { createWorkflow } from './create-workflow.ts'
import type { Singleton } from './flow-control.ts'
import type { EmittedEvents, StartedRun, StepTools, WaitForSignalOptions } from './workflow.ts'

const order = createWorkflow({ name: 'order', input: z.object({ id: z.string() }) }, async ({ event }) => ({
  parcel: event.data.id,
}))

/** Never called: the compiler checks it, and the line after a directive must be an error. */
const typed = (calls: (step: StepTools, client: Client, handle: RunHandle) => unknown) =>
  expect(calls).toBeTypeOf('function')

test('currentRun may find no run', () => {
  expectTypeOf(currentRun).returns.toEqualTypeOf<CurrentRun | undefined>()
  typed(() => {
    const run = currentRun()
    expectTypeOf(run?.ctx.runId).toEqualTypeOf<string | undefined>()
    expectTypeOf(run?.log).toEqualTypeOf<Logger | undefined>()
    run?.progress({ done: 1 })
    // @ts-expect-error code outside of runs has no run
    currentRun().log.info('hello')
    // @ts-expect-error the data of the event is unknown
    run?.event.data.orderId
  })
})

test('a duration is checked wherever one is taken', () => {
  typed((step, _, handle) => [
    step.sleep('a', '2 days'),
    step.sleep('a', '1h30m'),
    step.sleep('a', 1500),
    step.run('a', () => 1, { timeout: '30s', retry: { maxElapsed: '1 day' } }),
    step.waitForEvent('a', { event: 'e', timeout: '1w' }),
    handle.update('a', 1, { timeout: '20 seconds' }),
    // @ts-expect-error a number without a unit
    step.sleep('a', '30'),
    // @ts-expect-error months differ in length
    step.sleep('a', '3 months'),
    // @ts-expect-error no duration
    step.run('a', () => 1, { timeout: 'soon' }),
    // @ts-expect-error no duration
    step.run('a', () => 1, { retry: { maxElapsed: '1 fortnight' } }),
    // @ts-expect-error a number without a unit
    step.waitForEvent('a', { event: 'e', timeout: '60' }),
    // @ts-expect-error no duration
    step.waitForSignal('a', { signal: 's', timeout: 'later' }),
    // @ts-expect-error no duration
    step.runWorkflow('a', { workflow: 'w', timeout: 'never' }),
    // @ts-expect-error no duration
    step.startRun('a', { workflow: 'w', delay: 'tomorrow' }),
    // @ts-expect-error no duration
    step.emit('a', { event: 'e', delay: 'tomorrow' }),
    // @ts-expect-error no duration
    handle.update('a', 1, { timeout: 'soon' }),
  ])
  // @ts-expect-error no duration
  expect(createWorkflow({ name: 'w', timeouts: { run: '1 year' } }, () => 1)).toBeDefined()
})

test('a retry policy', () => {
  const retry = { maxAttempts: 'unlimited', maxElapsed: '1d', nonRetriable: ['CardDeclined', 'E_CLOSED'] } as const
  const policy = { ...retry, nonRetriable: [...retry.nonRetriable] }
  expect(createWorkflow({ name: 'w', retry: policy }, () => 1).registration.retry).toEqual(policy)
  typed(step => [
    step.run('a', () => 1, { retry: policy }),
    step.run('a', ({ attempt, maxAttempts }) => {
      expectTypeOf(attempt).toBeNumber()
      expectTypeOf(maxAttempts).toBeNumber()
    }),
    // @ts-expect-error a number, or "unlimited"
    step.run('a', () => 1, { retry: { maxAttempts: 'forever' } }),
    // @ts-expect-error a list of names
    step.run('a', () => 1, { retry: { nonRetriable: 'CardDeclined' } }),
    // @ts-expect-error there is no such member
    step.run('a', () => 1, { retry: { attempts: 3 } }),
  ])
})

describe('signals and updates', () => {
  test('a signal has the data that the handler expects, and methods that answer', () => {
    typed(async (step, _, handle) => {
      const options: WaitForSignalOptions = { signal: 'add', timeout: '1h', since: 'now' }
      const add = await step.waitForSignal<{ sku: string }>('a', options)
      expectTypeOf(add).toEqualTypeOf<ReceivedSignal<{ sku: string }> | null>()
      // @ts-expect-error null is the timeout
      add.data
      if (add === null) return
      expectTypeOf(add.data.sku).toBeString()
      expectTypeOf(add.reply({ count: 1 })).toEqualTypeOf<Promise<void>>()
      // @ts-expect-error a rejection has a message
      add.reject()
      expectTypeOf(await step.waitForSignal('b', { signal: 'go' })).toEqualTypeOf<ReceivedSignal | null>()
      // @ts-expect-error the name of the step is not the name of the signal
      step.waitForSignal('c', {})
      // @ts-expect-error "run" or "now"
      step.waitForSignal('d', { signal: 'go', since: 'later' })

      expectTypeOf(handle.signal('add', { sku: 'tea' })).resolves.toEqualTypeOf<{ eventId: string; woke: number }>()
      const asked: UpdateOptions = { timeout: '20s', dedupeId: 'd' }
      expectTypeOf(handle.update<{ count: number }>('add', 1, asked)).resolves.toEqualTypeOf<{ count: number }>()
      expectTypeOf(handle.update('add')).resolves.toBeUnknown()
      // @ts-expect-error a signal is not answered, so it has no such option
      handle.signal('add', 1, { timeout: '20s' })
    })
  })

  test('an event that was waited for has no such methods', () => {
    typed(async step => {
      const event = await step.waitForEvent('a', { event: 'e', since: 'now', match: ['data.id', 'data.line'] })
      // @ts-expect-error nobody waits for an answer to an event
      event?.reply(1)
      // @ts-expect-error a match compares values, no lists
      step.waitForEvent('b', { event: 'e', match: { 'data.id': [1] } })
      // @ts-expect-error "run" or "now"
      step.waitForEvent('c', { event: 'e', since: 'later' })
    })
  })
})

test('starts have the types of their workflow', () => {
  typed(step => [
    expectTypeOf(step.startRun('a', { workflow: order, data: { id: 'o' }, key: 'k', at: new Date() })).toEqualTypeOf<
      Promise<StartedRun>
    >(),
    // @ts-expect-error the data is required
    step.startRun('a', { workflow: order }),
    // @ts-expect-error one of three
    step.startRun('a', { workflow: 'order', ifRunning: 'queue' }),
    // @ts-expect-error the run has an id
    step.cancelRun('a', {}),
    expectTypeOf(
      step.emit('a', [
        { event: 'x', delay: '1h' },
        { event: 'y', dedupeId: 'd' },
      ]),
    ).toEqualTypeOf<Promise<EmittedEvents>>(),
    // @ts-expect-error every event of a list has a name
    step.emit('a', [{ data: 1 }]),
    step.runWorkflow('a', { workflow: order, data: { id: 'o' }, timeout: '2h', priority: 10 }),
    // @ts-expect-error a priority is a number here, and no expression
    step.runWorkflow('a', { workflow: order, data: { id: 'o' }, priority: 'event.data.priority' }),
  ])
})

test('collected events stand beside their data, and only there', () => {
  createWorkflow({ name: 'w', batch: { maxSize: 2, timeout: '1s' } }, ({ event }) => {
    expectTypeOf(event).toExtend<BatchEvent>()
    expectTypeOf(event.events).toEqualTypeOf<readonly ReceivedEvent[]>()
  })
  createWorkflow({ name: 'w', triggers: { event: 'e' } }, ({ event }) => {
    // @ts-expect-error the run has one event
    event.events
  })
})

test('a singleton may deliver', () => {
  expectTypeOf<Singleton['mode']>().toEqualTypeOf<'skip' | 'cancel' | 'deliver'>()
  const singleton = { mode: 'deliver', key: 'event.data.id' } as const
  expect(createWorkflow({ name: 'w', singleton }, () => 1).registration.singleton).toEqual(singleton)
  // @ts-expect-error there is no such mode
  createWorkflow({ name: 'w', singleton: { mode: 'queue' } }, () => 1)
})
