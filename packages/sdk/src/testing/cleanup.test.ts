// Rollbacks in virtual time and over a crash of the engine. `test/scenario/sdk/rollbacks.test.ts` tests the rest.

import { NonRetriableError } from '@perdure/client'
import { beforeEach, expect, test } from 'vitest'
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

test('a failed run is undone in a run of its own, a run that is cancelled without cleanup is not', async () => {
  const engine = await open([trip])
  const run = await engine.start(trip)
  expect(await run.cleanup()).toBeUndefined()
  expect(await run.failure({ within: '1d' })).toMatchObject({ message: 'no car is left' })
  const cleanup = await run.cleanup()
  expect(await cleanup?.status()).toBe('succeeded')
  expect(lines).toEqual(['flight f1', 'hotel h1'])
  expect([cleanup?.executions('rollback:hotel'), run.executions('hotel')]).toEqual([1, 1])
  expect((await cleanup?.steps())?.map(({ name }) => name)).toEqual(['rollback:flight', 'rollback:hotel'])

  const other = await engine.start(trip)
  await other.cancel({ cleanup: false })
  expect(await other.cleanup()).toBeUndefined()
})

test('a crash after onCancel and between rollbacks neither skips nor repeats one', async () => {
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
  expect(lines).toEqual(['cancelled {"hotel":"h1","flight":"f1"}', 'flight f1', 'hotel h1'])
})
