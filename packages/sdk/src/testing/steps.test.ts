// Step callbacks: executions, mocks, holds, and callbacks with real I/O.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { NonRetriableError } from '@perdure/client'
import { expect, onTestFinished, test } from 'vitest'
import { deferred } from '../run/deferred.ts'
import { StepFailedError } from '../wire/errors.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { WorkflowArgs } from '../workflow/workflow.ts'
import { testEngine } from './index.ts'
import { open } from './open.testkit.ts'

const saga = createWorkflow({ name: 'saga' }, async ({ step }) => {
  await step.run('reserve', () => 'reserved')
  try {
    await step.run('charge', () => 'charged')
  } catch (error) {
    if (!(error instanceof StepFailedError)) throw error
    await step.run('release', () => 'released')
    return `declined: ${error.message}`
  }
  return 'sold'
})

test('a mock replaces the callback', async () => {
  const engine = await open([saga])
  const charge = engine.mock('charge', () => {
    throw new NonRetriableError('no funds')
  })
  const run = await engine.start(saga)
  expect(await run.result()).toBe('declined: no funds')
  expect(charge.calls).toMatchObject([{ runId: run.id, workflow: 'saga', stepName: 'charge', execution: 1 }])
  expect(run.executions('release')).toBe(1)
  charge.restore()
  expect(await (await engine.start(saga)).result()).toBe('sold')
})

test('a mock may be for one workflow, or for one use of a name', async () => {
  const loop = createWorkflow({ name: 'loop' }, async ({ step }) => {
    const results: string[] = []
    for (let i = 0; i < 3; i++) results.push(await step.run('turn', () => 'real'))
    return results
  })
  const other = createWorkflow({ name: 'other' }, ({ step }) => step.run('turn', () => 'real'))
  const engine = await open([loop, other])
  engine.mock('turn:1', () => 'mocked', { workflow: loop })
  const run = await engine.start(loop)
  expect(await run.result()).toEqual(['real', 'mocked', 'real'])
  expect([run.executions('turn'), run.executions('turn:1')]).toEqual([3, 1])
  engine.mock('turn', () => 'all', { workflow: 'loop' })
  expect(await (await engine.start(loop)).result()).toEqual(['all', 'all', 'all'])
  expect(await (await engine.start(other)).result()).toBe('real')
})

test('a mock may be for all items of a map, or for one of them', async () => {
  const quotes = createWorkflow({ name: 'quotes' }, ({ step }) => step.map('quote', ['ups', 'dhl'], carrier => carrier))
  const engine = await open([quotes])
  const all = engine.mock('quote', ({ stepName, original }) => `${original()} by ${stepName}`)
  engine.mock('quote:1', () => 'mocked')
  const run = await engine.start(quotes)
  expect(await run.result()).toEqual(['ups by quote:0', 'mocked'])
  expect([all.calls.length, run.executions('quote'), run.executions('quote:1')]).toEqual([1, 2, 1])
})

test('real I/O of a callback is awaited', async () => {
  const server = createServer((_, response) => response.end('pong')).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  onTestFinished(() => new Promise<void>(resolve => server.close(() => resolve())))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const caller = createWorkflow({ name: 'caller' }, async ({ step }) => {
    const [text] = await Promise.all([
      step.run('fetch', async () => (await fetch(url, { headers: { connection: 'close' } })).text()),
      step.run('wait', () => delay(20)),
    ])
    await delay(5)
    return step.run('after', () => text)
  })
  const engine = await open([caller])
  const run = await engine.start(caller)
  expect(await run.status()).toBe('succeeded')
  expect(await run.result()).toBe('pong')
})

test('a callback that never ends is named in the error', async () => {
  const stuck = createWorkflow({ name: 'stuck' }, ({ step }) => step.run('hang', () => new Promise(() => {})))
  const engine = await testEngine({ workflows: [stuck], patienceMs: 50 })
  await expect(engine.start(stuck)).rejects.toThrow(
    /Nothing has moved for 50 ms of real time.*callback of step "hang" of run_\w+ \("stuck"\), for \d+ ms/s,
  )
  await expect(engine.stop()).rejects.toThrow('callback of step "hang"')
  await expect(engine.settled()).resolves.toBeUndefined()
})

test('a handler that awaits something other than a step is named in the error', async () => {
  const stuck = createWorkflow({ name: 'stuck' }, () => new Promise(() => {}))
  const engine = await testEngine({ workflows: [stuck], patienceMs: 50 })
  await expect(engine.start(stuck)).rejects.toThrow(/a pass of run_\w+ \("stuck"\).*awaits something other than a step/)
  await expect(engine.stop()).rejects.toThrow('other than a step')
})

test('patienceMs applies to each callback, not to all together', async () => {
  const slow = createWorkflow({ name: 'slow' }, async ({ step }) => {
    for (let i = 0; i < 5; i++) await step.run('turn', () => delay(30))
  })
  const engine = await open({ workflows: [slow], patienceMs: 100 })
  await (await engine.start(slow)).result()
})

test('a held step is not awaited, but its siblings are', async () => {
  const done: string[] = []
  const pair = createWorkflow({ name: 'pair' }, ({ step }) =>
    Promise.all([
      step.run('held', () => done.push('held')),
      step.run('slow', async () => {
        await delay(20)
        done.push('slow')
      }),
    ]),
  )
  const engine = await open([pair])
  const hold = engine.hold('held', { workflow: pair })
  const run = await engine.start(pair)
  expect(done).toEqual(['slow'])
  hold.release()
  await run.result()
  expect(done).toEqual(['slow', 'held'])
})

test('time can advance while a step is held, by more than a lease', async () => {
  const engine = await open([saga])
  const hold = engine.hold('charge')
  const run = await engine.start(saga)
  await engine.advance('1h')
  expect(await run.status()).toBe('running')
  hold.release()
  expect(await run.result()).toBe('sold')
  expect(run.executions('charge')).toBe(1)
})

test('a cancelled run aborts its callback, which is not awaited', async () => {
  const reasons: unknown[] = []
  const begun = deferred()
  const held = createWorkflow({ name: 'held' }, ({ step }) =>
    step.run('hang', ({ signal }) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason))
      begun.resolve()
      return new Promise(() => {})
    }),
  )
  const engine = await open([held])
  const starting = engine.start(held)
  await begun.promise
  const [{ id } = { id: '' }] = (await engine.api.listRuns()).items
  await engine.api.cancelRun({ id })
  expect(await (await starting).status()).toBe('cancelled')
  expect(reasons).toEqual([expect.any(Error)])

  const hold = engine.hold('hang')
  const other = await engine.start(held)
  await hold.reached
  await other.cancel()
  expect(await other.status()).toBe('cancelled')
})

test('a callback may send events, as code under test does', async () => {
  const second = createWorkflow({ name: 'second' }, async ({ event }: WorkflowArgs<number>) => event.data)
  const first = createWorkflow({ name: 'first' }, ({ step }) =>
    step.run('send', async () => (await engine.send('second', 2)).runs[0]?.id),
  )
  const engine = await open([first, second])
  const sent = await (await engine.start(first)).result()
  expect(await (await engine.run(sent as string)).result()).toBe(2)
})
