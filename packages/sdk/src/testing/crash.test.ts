// Crashes and restarts of the engine: which steps are kept, and which are executed again. `docs.test.ts` tests the plain cases.

import { expect, test } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { open } from './open.testkit.ts'

const order = createWorkflow({ name: 'order' }, async ({ step }) => {
  const charged = await step.run('charge', () => 'charged')
  await step.sleep('cool-down', '1d')
  const shipped = await step.run('ship', () => 'shipped')
  return [charged, shipped]
})

test('a crash in the middle of a callback aborts it, and it is not awaited', async () => {
  let aborted = false
  const engine = await open([order])
  const charge = engine.mock('charge', ({ context, execution, original }) => {
    if (execution > 1) return original()
    context.signal.addEventListener('abort', () => {
      aborted = true
    })
    engine.crash()
    return new Promise(() => {})
  })
  const starting = engine.start(order).catch((error: Error) => error)
  await engine.settled()
  await starting
  expect(aborted).toBe(true)
  await engine.restart()
  const [run] = await engine.runs()
  await run?.parkedAt('cool-down')
  expect(charge.calls).toHaveLength(2)
})

test('a step held back over a crash is run by the next engine alone', async () => {
  const engine = await open([order])
  const hold = engine.hold('charge')
  const charge = engine.mock('charge', ({ original }) => original())
  const run = await engine.start(order)
  await hold.reached
  await engine.restart()
  expect(charge.calls).toHaveLength(0)
  hold.release()
  await run.parkedAt('cool-down')
  expect([charge.calls.length, run.executions('charge')]).toEqual([1, 2])
})

test('a request in flight and later ones reject when the engine crashes', async () => {
  const engine = await open([order])
  const run = await engine.start(order)
  const request = engine.send('order')
  engine.crash()
  await expect(request).rejects.toThrow('The engine has crashed')
  expect(engine.isUp).toBe(false)
  await expect(run.status()).rejects.toThrow('The engine has crashed: restart() starts it again')
})

test('a restart without a crash crashes the engine first', async () => {
  const engine = await open([order])
  const run = await engine.start(order)
  for (let i = 0; i < 3; i++) await engine.restart()
  await run.parkedAt('cool-down')
  await engine.advance('1d')
  expect(await run.result()).toEqual(['charged', 'shipped'])
  expect(run.executions('charge')).toBe(1)
})

const trip = createWorkflow({ name: 'trip' }, async ({ step }) => {
  const booked = await Promise.all(['car', 'bed'].map(name => step.run(name, () => `${name} booked`)))
  await step.sleep('night', '8h')
  for (const leg of [1, 2]) booked.push(await step.run('leg', () => `leg ${leg}`))
  await step.emit('announce', { event: 'home', data: booked.length })
  return booked
})

/** Returns the trip's result when the engine crashes in the n-th execution of a callback. */
async function tripWithCrash(crashAt: number, checkpoints: boolean) {
  const engine = await open({ workflows: [trip], checkpoints })
  const heal = async () => {
    if (!engine.isUp) await engine.restart()
  }
  let executions = 0
  for (const name of ['car', 'bed', 'leg']) {
    engine.mock(name, ({ original }) => {
      if (++executions === crashAt) engine.crash()
      return original()
    })
  }
  await engine.send('trip').catch(() => {})
  await heal()
  await engine.advance('8h')
  await heal()
  const [run] = await engine.runs()
  const outcome = {
    result: await run?.result(),
    homes: (await engine.events({ name: 'home' })).length,
    executions,
  }
  await engine.stop()
  return outcome
}

// The second execution is of a parallel step, the fourth of the last one.
test.each([
  { crashAt: 2, checkpoints: false },
  { crashAt: 4, checkpoints: false },
  { crashAt: 2, checkpoints: true },
  { crashAt: 4, checkpoints: true },
])('a crash in execution $crashAt leaves the result as it is (checkpoints: $checkpoints)', async options => {
  const outcome = await tripWithCrash(options.crashAt, options.checkpoints)
  expect(outcome).toMatchObject({ result: ['car booked', 'bed booked', 'leg 1', 'leg 2'], homes: 1 })
  expect(outcome.executions).toBeGreaterThan(4)
})
