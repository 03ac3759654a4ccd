// Runs the code blocks of docs/ai.md on the real engine, with the `ai` package and its mock model; snippets.test.ts compares the
// blocks with the page.

import { testEngine } from '@perdure/sdk/testing'
import { expect, test } from 'vitest'
import { careless, chat, model, one, wrapped } from './ai.workflows.ts'

const question = { question: 'How is the weather in Bern?' }

test('one call is stored with the members that the step returns, and without a warning', async () => {
  await using engine = await testEngine([one])
  const run = await engine.start(one, question)
  expect(await run.result()).toMatchObject({ text: 'It rains.', usage: { inputTokens: 3, outputTokens: 2 } })
  expect((await run.logs()).filter(({ level }) => level === 'warn')).toEqual([])
})

test('a wrapped model is called once, however often the handler runs, and its dates are dates', async () => {
  await using engine = await testEngine([wrapped])
  model.doGenerateCalls.length = 0
  const run = await engine.start(wrapped, question)
  expect(await run.result({ within: '2h' })).toBe('It rains.')
  expect(model.doGenerateCalls).toHaveLength(1)
})

test('a step streams its answer, and gives its text', async () => {
  await using engine = await testEngine([chat])
  const run = await engine.start(chat, question)
  expect(await run.result()).toBe('It rains.')
  const { chunks } = await run.stream('chat')
  expect(chunks).toHaveLength(7)
})

test('a result that is returned whole loses its getters, and one warning names them', async () => {
  await using engine = await testEngine([careless])
  const run = await engine.start(careless, question)
  expect(await run.result()).toEqual({ steps: 1 })
  const warnings = (await run.logs()).filter(({ level }) => level === 'warn')
  expect(warnings).toHaveLength(1)
  expect(warnings[0]?.message).toMatch(/an instance of \w+, .* without its getters .*\btext\b/)
})
