// Tests of `Quiescence`: it waits for work in flight and for a busy engine, and gives up without progress.

import { expect, test } from 'vitest'
import { TestingError } from './errors.ts'
import { Quiescence } from './quiescence.ts'
import { nextTurn } from './real-time.ts'

function open({ patienceMs = 4000 } = {}) {
  const engine = { isIdle: true, held: 0 }
  const options = {
    patienceMs,
    held: () => engine.held,
    isIdle: () => engine.isIdle,
    underWay: () => ['a pass'],
  }
  const quiescence = new Quiescence(options)
  let isReached = false
  const reached = () =>
    quiescence.reached().then(() => {
      isReached = true
    })
  return { engine, quiescence, reached, isReached: () => isReached }
}

const turns = async (count: number) => {
  for (let i = 0; i < count; i++) await nextTurn()
}

test('an engine that computes over many turns of the event loop is awaited', async () => {
  const { engine, reached, isReached } = open()
  engine.isIdle = false
  const reaching = reached()
  await turns(50)
  expect(isReached()).toBe(false)
  engine.isIdle = true
  await reaching
})

test('work in flight is awaited without polling, and also the work that follows it', async () => {
  const { quiescence, reached, isReached } = open()
  const end = quiescence.begin()
  const reaching = reached()
  await turns(5)
  const endNext = quiescence.begin()
  end()
  end()
  await turns(5)
  expect(isReached()).toBe(false)
  await expect(quiescence.during(Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  endNext()
  await reaching
})

test('held work is not awaited', async () => {
  const { engine, quiescence, reached } = open()
  quiescence.begin()
  engine.held = 1
  await reached()
})

test('it rejects when nothing progresses for patienceMs, counted from the last progress', async () => {
  const { engine, quiescence, reached } = open({ patienceMs: 30 })
  const end = quiescence.begin()
  const late = reached()
  for (let i = 0; i < 4; i++) {
    await new Promise(resolve => setTimeout(resolve, 15))
    quiescence.progress()
  }
  await expect(late).rejects.toThrow(
    'Nothing has moved for 30 ms of real time (option patienceMs). Under way:\n  a pass',
  )
  end()
  engine.isIdle = false
  await expect(reached()).rejects.toThrow(TestingError)
})
