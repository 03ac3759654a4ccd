import { testEngine } from 'perdure/testing'
import { expect, test } from 'vitest'
import { agent } from './agent.ts'

test('a question is answered with a tool', async () => {
  await using engine = await testEngine([agent])
  const run = await engine.start(agent, { question: 'Where is order 17?' })

  expect(await run.result()).toEqual({ answer: 'Here is what I know: Order 17: 1 tent, delivered.', turns: 2 })
})

test('a refund waits for a person', async () => {
  await using engine = await testEngine([agent])
  const run = await engine.start(agent, { question: 'I want my money back for order 18' })
  await run.parkedAt('approval 2')
  expect(run.executions('refund 2')).toBe(0)

  await run.callback('approval 2', { by: 'ada', approved: true })

  expect((await run.result()).answer).toContain('Refunded order 18')
  expect(run.executions('refund 2')).toBe(1)
})

test.each([
  ['a person refuses', { by: 'ada', approved: false }],
  ['nobody answers for a day', undefined],
])('nothing is refunded if %s', async (_, verdict) => {
  await using engine = await testEngine([agent])
  const run = await engine.start(agent, { question: 'I want my money back for order 19' })

  if (verdict === undefined) await engine.advance('1d')
  else await run.callback('approval 2', verdict)

  expect((await run.result()).answer).toContain('A person refused this.')
  expect(run.executions('refund 2')).toBe(0)
})

test('a model that goes round in circles is stopped by its budget, and a person may raise it', async () => {
  await using engine = await testEngine([agent])
  const run = await engine.start(agent, { question: 'What is the meaning of 42?' })

  expect(await run.status()).toBe('paused')
  expect((await run.read()).waitingFor).toMatchObject({ kind: 'budget', name: 'usd', limit: 0.1 })
  expect(await run.why()).toContain('usd')

  await run.setBudget({ usd: 0.5 })
  expect((await run.read()).waitingFor).toMatchObject({ name: 'usd', limit: 0.5 })
  await run.cancel()
})

test('a crash repeats neither the model nor a tool whose result is stored', async () => {
  await using engine = await testEngine([agent])
  const run = await engine.start(agent, { question: 'I want my money back for order 20' })
  await run.parkedAt('approval 2')
  engine.crash()
  await engine.restart()
  await run.callback('approval 2', { by: 'ada', approved: true })

  expect((await run.result()).turns).toBe(3)
  expect(run.executions('model 1')).toBe(1)
  expect(run.executions('find-order 1')).toBe(1)
})
