// Crashes and restarts of the engine: which steps are kept, and which are executed again.

import { expect, test } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { open } from './open.testkit.ts'

const order = createWorkflow({ name: 'order' }, async ({ step }) => {
  const charged = await step.run('charge', () => 'charged')
  await step.sleep('cool-down', '1d')
  const shipped = await step.run('ship', () => 'shipped')
  return [charged, shipped]
})

test('steps that are stored are not run again by the next engine', async () => {
  const engine = await open([order])
  const run = await engine.start(order)
  await run.parkedAt('cool-down')
  engine.crash()
  expect(engine.isUp).toBe(false)
  await expect(run.status()).rejects.toThrow('The engine has crashed: restart() starts it again')
  await engine.advance('2d')
  await engine.restart()
  expect(await run.result()).toEqual(['charged', 'shipped'])
  expect([run.executions('charge'), run.executions('ship')]).toEqual([1, 1])
})

test('a crash after the effect runs the step again, under the same key', async () => {
  const engine = await open([order])
  const ship = engine.mock('ship', ({ execution, original }) => {
    const result = original()
    if (execution === 1) engine.crash()
    return result
  })
  const run = await engine.start(order)
  await engine.advance('1d')
  await engine.restart()
  expect(await run.result()).toEqual(['charged', 'shipped'])
  expect(run.executions('charge')).toBe(1)
  expect(ship.calls.map(({ execution }) => execution)).toEqual([1, 2])
  const [first, second] = ship.calls
  expect(first?.context.idempotencyKey).toBe(second?.context.idempotencyKey)
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

test('a request in flight rejects when the engine crashes', async () => {
  const engine = await open([order])
  const request = engine.send('order')
  engine.crash()
  await expect(request).rejects.toThrow('The engine has crashed')
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

test.each([false, true])('wherever it crashes the result is the same (checkpoints: %s)', async checkpoints => {
  const result = ['car booked', 'bed booked', 'leg 1', 'leg 2']
  expect(await tripWithCrash(0, checkpoints)).toEqual({ result, homes: 1, executions: 4 })
  for (let crashAt = 1; crashAt <= 4; crashAt++) {
    const outcome = await tripWithCrash(crashAt, checkpoints)
    expect(outcome, `crash at ${crashAt}`).toMatchObject({ result, homes: 1 })
    expect(outcome.executions).toBeGreaterThan(4)
  }
})
