// Rollbacks and `onCancel` in virtual time, over crashes of the engine, with and without checkpoints.

import { NonRetriableError } from '@perdure/client'
import { beforeEach, expect, test } from 'vitest'
import { deferred } from '../run/deferred.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { open } from './open.testkit.ts'

let lines: string[] = []
beforeEach(() => {
  lines = []
})

const trip = createWorkflow(
  {
    name: 'trip',
    retry: { maxAttempts: 3, initialMs: 60_000, factor: 1, jitter: 0 },
    onCancel: async ({ step, steps }) => {
      await step.run('tell', () => lines.push(`cancelled ${JSON.stringify(steps)}`))
    },
  },
  async ({ step }) => {
    await step.run('hotel', () => 'h1', { rollback: id => void lines.push(`hotel ${id}`) })
    await step.run('flight', () => 'f1', { rollback: id => void lines.push(`flight ${id}`) })
    await step.waitForEvent('approval', { event: 'approved', timeout: '1d' })
    await step.run('car', () => {
      throw new NonRetriableError('no car is left')
    })
  },
)

test.each([false, true])('a failed run is undone in a run of its own (checkpoints: %s)', async checkpoints => {
  const engine = await open({ workflows: [trip], checkpoints })
  const run = await engine.start(trip)
  expect(await run.cleanup()).toBeUndefined()
  expect(await run.failure({ within: '1d' })).toMatchObject({ message: 'no car is left' })
  const cleanup = await run.cleanup()
  expect(await cleanup?.status()).toBe('succeeded')
  expect(lines).toEqual(['flight f1', 'hotel h1'])
  expect([cleanup?.executions('rollback:hotel'), run.executions('hotel')]).toEqual([1, 1])
  expect((await cleanup?.steps())?.map(({ name }) => name)).toEqual(['rollback:flight', 'rollback:hotel'])
})

test('a cancelled run tells its onCancel first', async () => {
  const engine = await open([trip])
  const run = await engine.start(trip)
  await run.parkedAt('approval')
  await run.cancel()
  expect(await (await run.cleanup())?.status()).toBe('succeeded')
  expect(lines).toEqual(['cancelled {"hotel":"h1","flight":"f1"}', 'flight f1', 'hotel h1'])
})

test('a cancel without cleanup undoes nothing', async () => {
  const engine = await open([trip])
  const run = await engine.start(trip)
  await run.cancel({ cleanup: false })
  expect(await run.cleanup()).toBeUndefined()
  expect(lines).toEqual([])
})

test('a rollback that fails is tried again by the policy of the workflow, and stops no other', async () => {
  const engine = await open([trip])
  const flight = engine.mock('rollback:flight', ({ execution, original }) => {
    if (execution < 3) throw new Error('the airline does not answer')
    return original()
  })
  engine.mock('rollback:hotel', () => {
    throw new NonRetriableError('the hotel has closed')
  })
  const run = await engine.start(trip)
  await run.cancel()
  const cleanup = await run.cleanup()
  await cleanup?.parkedAt('rollback:flight')
  expect(await cleanup?.failure({ within: '1h' })).toMatchObject({
    message: 'Step "hotel" was not undone: the hotel has closed',
    stepName: 'rollback:hotel',
  })
  expect(flight.calls).toHaveLength(3)
  expect(await run.status()).toBe('cancelled')
})

test('a crash between rollbacks neither skips nor repeats one', async () => {
  const engine = await open([trip])
  const hold = engine.hold('rollback:hotel')
  const run = await engine.start(trip)
  await run.cancel()
  await hold.reached
  const cleanup = await run.cleanup()
  engine.crash()
  hold.release()
  await engine.advance('1h')
  await engine.restart()
  await engine.advance('1h')
  expect(await cleanup?.status()).toBe('succeeded')
  expect(lines.slice(1)).toEqual(['flight f1', 'hotel h1'])
})

test.each([false, true])(
  'a step that succeeds after the cancel of its run is undone (checkpoints: %s)',
  async checkpoints => {
    const [begun, booked] = [deferred(), deferred()]
    const book = createWorkflow({ name: 'book' }, async ({ step }) => {
      const callback = async () => {
        begun.resolve()
        await booked.promise
        return 'b1'
      }
      await step.run('room', callback, { rollback: id => void lines.push(`room ${id}`) })
      await step.run('never', () => lines.push('never'))
    })
    const engine = await open({ workflows: [book], checkpoints })
    const starting = engine.start(book)
    await begun.promise
    const [{ id } = { id: '' }] = (await engine.api.listRuns()).items
    await engine.api.cancelRun({ id })
    booked.resolve()
    const run = await starting
    expect(await (await run.cleanup())?.status()).toBe('succeeded')
    expect(await run.step('room')).toMatchObject({ status: 'succeeded' })
    expect(lines).toEqual(['room b1'])
  },
)
