import { expect, test } from 'vitest'
import { TestingError } from './errors.ts'
import { nextTurn } from './real-time.ts'
import { Stillness } from './stillness.ts'

function open({ patienceMs = 4000 } = {}) {
  const engine = { isIdle: true, held: 0 }
  const options = {
    patienceMs,
    held: () => engine.held,
    isIdle: () => engine.isIdle,
    underWay: () => ['a pass'],
  }
  const stillness = new Stillness(options)
  let isReached = false
  const reached = () =>
    stillness.reached().then(() => {
      isReached = true
    })
  return { engine, stillness, reached, isReached: () => isReached }
}

const turns = async (count: number) => {
  for (let i = 0; i < count; i++) await nextTurn()
}

test('an engine that computes over many turns of the event loop is waited for', async () => {
  const { engine, reached, isReached } = open()
  engine.isIdle = false
  const reaching = reached()
  await turns(50)
  expect(isReached()).toBe(false)
  engine.isIdle = true
  await reaching
})

test('what is under way is waited for without turning in circles, whatever follows it', async () => {
  const { stillness, reached, isReached } = open()
  const end = stillness.begin()
  const reaching = reached()
  await turns(5)
  const endNext = stillness.begin()
  end()
  end()
  await turns(5)
  expect(isReached()).toBe(false)
  await expect(stillness.during(Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  endNext()
  await reaching
})

test('what is held back is not waited for', async () => {
  const { engine, stillness, reached } = open()
  stillness.begin()
  engine.held = 1
  await reached()
})

test('patience ends when nothing moves, and begins anew with each progress', async () => {
  const { engine, stillness, reached } = open({ patienceMs: 30 })
  const end = stillness.begin()
  const late = reached()
  for (let i = 0; i < 4; i++) {
    await new Promise(resolve => setTimeout(resolve, 15))
    stillness.progress()
  }
  await expect(late).rejects.toThrow(
    'Nothing has moved for 30 ms of real time (option patienceMs). Under way:\n  a pass',
  )
  end()
  engine.isIdle = false
  await expect(reached()).rejects.toThrow(TestingError)
})
