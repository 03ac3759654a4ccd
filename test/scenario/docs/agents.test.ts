// The code of docs/agents.md, line by line, on the real engine with the mock model of the AI SDK; snippets.test.ts compares it with the page.

import { createWorkflow, type WorkflowArgs } from '@perdure/sdk'
import { streamUI } from '@perdure/sdk/ai'
import { testEngine } from '@perdure/sdk/testing'
import { generateText, type ModelMessage, streamText } from 'ai'
import { expect, test } from 'vitest'
import { called, callTool, mail, mails, model, tools } from './agents.model.ts'

interface Question {
  question: string
}

const loop = createWorkflow({ name: 'docs-agent-loop' }, async ({ event, step }: WorkflowArgs<Question>) => {
  const messages: ModelMessage[] = [{ role: 'user', content: event.data.question }]
  for (let turn = 0; turn < 20; turn++) {
    const { text, calls, said } = await step.run('think', async ({ signal }) => {
      const { text, toolCalls, responseMessages } = await generateText({
        model,
        messages,
        tools,
        abortSignal: signal,
        maxRetries: 0,
      })
      const calls = toolCalls.map(({ toolCallId, toolName, input }) => ({ toolCallId, toolName, input }))
      return { text, calls, said: responseMessages }
    })
    messages.push(...(said as ModelMessage[]))
    if (calls.length === 0) return text
    for (const { toolCallId, toolName, input } of calls) {
      const value = await step.run(toolName, ({ idempotencyKey }) => callTool(toolName, input, idempotencyKey))
      const output = { type: 'json' as const, value }
      messages.push({ role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] })
    }
  }
  throw new Error('No answer after 20 turns')
})

const agent = createWorkflow(
  {
    name: 'docs-agent',
    budget: { usd: 2, tokens: 100_000, steps: 100, whenExceeded: 'fail' },
    timeouts: { run: '3d' },
  },
  async ({ event, step, ctx }: WorkflowArgs<Question>) => {
    const isAllowed = async (toolName: string, input: unknown) => {
      const approval = ctx.callback<{ allowed: boolean }>('approval', { timeout: '1d' })
      await step.run('ask', () => mail('support', `${toolName} ${JSON.stringify(input)}? ${approval.url}`))
      const verdict = await approval.wait()
      return verdict?.allowed === true
    }
    const messages: ModelMessage[] = [{ role: 'user', content: event.data.question }]
    for (let turn = 0; turn < 20; turn++) {
      const { text, calls, said } = await step.run('think', async ({ stream, spend, signal }) => {
        const result = streamText({ model, messages, tools, abortSignal: signal, maxRetries: 0 })
        const text = await streamUI(stream('chat'), result)
        const { totalTokens = 0 } = await result.usage
        spend({ tokens: totalTokens, usd: totalTokens * 0.000003 })
        const calls = (await result.toolCalls).map(({ toolCallId, toolName, input }) => ({
          toolCallId,
          toolName,
          input,
        }))
        return { text, calls, said: await result.responseMessages }
      })
      messages.push(...(said as ModelMessage[]))
      if (calls.length === 0) return text
      for (const { toolCallId, toolName, input } of calls) {
        const value =
          toolName === 'refund' && !(await isAllowed(toolName, input))
            ? 'A person has refused this call.'
            : await step.run(toolName, ({ idempotencyKey }) => callTool(toolName, input, idempotencyKey))
        const output = { type: 'json' as const, value }
        messages.push({ role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] })
      }
    }
    throw new Error('No answer after 20 turns')
  },
)

test('the loop calls the model and each tool once for each turn, over a crash', async () => {
  await using engine = await testEngine([loop])
  called.length = 0
  model.doGenerateCalls.length = 0
  engine.mock('findOrder', ({ execution, original }) => {
    if (execution === 1) engine.crash()
    return original()
  })
  const run = await engine.start(loop, { question: 'Money back for 17!' })
  await engine.restart()
  expect(await run.result()).toBe('The money is on its way.')
  expect(model.doGenerateCalls).toHaveLength(3)
  expect(called).toEqual(['findOrder', 'findOrder', 'refund'])
  expect((await run.steps()).map(({ name }) => name)).toEqual(['think', 'findOrder', 'think', 'refund', 'think'])
})

test('a verdict lets the tool run, and the answer is streamed', async () => {
  await using engine = await testEngine([agent])
  mails.length = 0
  const run = await engine.start(agent, { question: 'Money back for 17!' })
  await run.parkedAt('approval')
  expect(mails).toEqual([expect.stringMatching(/^refund \{"order":"17"\}\? http/)])
  await run.callback('approval', { allowed: true })
  expect(await run.result()).toBe('The money is on its way.')
  const chunks = (await run.stream('chat')).chunks as { type: string; delta?: string }[]
  expect(chunks.find(({ type }) => type === 'text-delta')?.delta).toBe('The money is on its way.')
  expect(chunks.at(-1)?.type).toBe('finish')
})

test('nobody answers: the model learns that the call was refused', async () => {
  await using engine = await testEngine([agent])
  called.length = 0
  const run = await engine.start(agent, { question: 'Money back for 17!' })
  expect(await run.result({ within: '2d' })).toBe('I may not refund it.')
  expect(called).toEqual(['findOrder'])
})

/** Turns of a run of production: the results of its `think` steps. */
const recording = [
  {
    text: '',
    calls: [{ toolCallId: 'c1', toolName: 'refund', input: { order: '17' } }],
    said: [],
  },
  { text: 'Done: the money is on its way.', calls: [], said: [] },
]

test('a refund needs an approval', async () => {
  await using engine = await testEngine([agent])
  for (const [turn, answer] of recording.entries()) engine.mock(turn === 0 ? 'think' : `think:${turn}`, () => answer)

  const run = await engine.start(agent, { question: 'Money back for 17!' })
  await run.parkedAt('approval')
  expect(run.executions('refund')).toBe(0)
  await run.callback('approval', { allowed: true })

  expect(await run.result()).toContain('on its way')
  expect(run.executions('refund')).toBe(1)
})

test('an agent that goes in circles stops at its budget', async () => {
  await using engine = await testEngine([agent])
  engine.mock('think', ({ context }) => {
    context.spend({ tokens: 60_000 })
    return { text: '', calls: [{ toolCallId: 'c1', toolName: 'findOrder', input: { order: '17' } }], said: [] }
  })

  const run = await engine.start(agent, { question: 'Where is 17?' })
  expect((await run.failure()).code).toBe('budget_exceeded')
  expect(run.executions('think')).toBe(2)
})

const cases = [
  { question: 'Money back for 17!', tools: ['findOrder', 'refund'], says: /on its way/ },
  { question: 'Give me the money for 17 back.', tools: ['findOrder', 'refund'], says: /on its way/ },
]

test.each(cases)('evaluation: $question', async ({ question, tools, says }) => {
  await using engine = await testEngine([agent])

  const run = await engine.start(agent, { question })
  await run.parkedAt('approval')
  await run.callback('approval', { allowed: true })

  expect(await run.result()).toMatch(says)
  const used = (await run.steps()).map(({ name }) => name).filter(name => name in { findOrder: 1, refund: 1 })
  expect(used).toEqual(tools)
})
