// The code of docs/ai.md, line by line. `ai.test.ts` runs it, with the model of the AI SDK's own tests.

import { createWorkflow, type WorkflowArgs } from '@perdure/sdk'
import { streamUI } from '@perdure/sdk/ai'
import { generateText, type ModelMessage, streamText, tool, wrapLanguageModel } from 'ai'
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'
import { z } from 'zod'

type Generated = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>

const counted = { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined }
const usage = { inputTokens: counted, outputTokens: { total: 2, text: 2, reasoning: undefined } }
const generated = (content: Generated['content'], finish: Generated['finishReason']['unified']): Generated => ({
  content,
  finishReason: { unified: finish, raw: finish },
  usage,
  warnings: [],
  response: { id: 'response-1', timestamp: new Date(0), modelId: 'mock' },
})

/** Asks for the weather once, and then answers. */
export const model = new MockLanguageModelV4({
  doGenerate: async ({ prompt, tools = [] }) => {
    const result = prompt.find(({ role }) => role === 'tool')
    if (tools.length === 0 || result) return generated([{ type: 'text', text: 'It rains.' }], 'stop')
    const call = { type: 'tool-call' as const, toolCallId: 'call-1', toolName: 'weather', input: '{"city":"Bern"}' }
    return generated([call], 'tool-calls')
  },
  doStream: async () => ({
    stream: convertArrayToReadableStream([
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'It ' },
      { type: 'text-delta', id: '1', delta: 'rains.' },
      { type: 'text-end', id: '1' },
      { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage },
    ]),
  }),
})
const tools = { weather: tool({ inputSchema: z.object({ city: z.string() }) }) }
/** The calls of tools, in order. */
export const called: unknown[] = []
const callTool = async (name: string, input: unknown) => {
  called.push([name, input])
  return { sky: 'rain' }
}

interface Question {
  question: string
}

export const one = createWorkflow({ name: 'docs-ai-one' }, async ({ event, step }: WorkflowArgs<Question>) => {
  const answer = await step.run('answer', async ({ signal }) => {
    const { text, usage } = await generateText({
      model,
      prompt: event.data.question,
      abortSignal: signal,
      maxRetries: 0,
    })
    return { text, usage }
  })
  return answer
})

export const loop = createWorkflow({ name: 'docs-ai-loop' }, async ({ event, step }: WorkflowArgs<Question>) => {
  const messages: ModelMessage[] = [{ role: 'user', content: event.data.question }]
  for (let turn = 0; turn < 20; turn++) {
    const { text, calls, said } = await step.run('think', async () => {
      const { text, toolCalls, responseMessages } = await generateText({ model, messages, tools, maxRetries: 0 })
      const calls = toolCalls.map(({ toolCallId, toolName, input }) => ({ toolCallId, toolName, input }))
      return { text, calls, said: responseMessages }
    })
    messages.push(...(said as ModelMessage[]))
    if (calls.length === 0) return text
    for (const { toolCallId, toolName, input } of calls) {
      const value = await step.run(toolName, () => callTool(toolName, input))
      const output = { type: 'json' as const, value }
      messages.push({ role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] })
    }
  }
  return undefined
})

export const wrapped = createWorkflow({ name: 'docs-ai-wrapped' }, async ({ event, step }: WorkflowArgs<Question>) => {
  const durable = wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: 'v4',
      wrapGenerate: async ({ doGenerate }) => {
        const stored = await step.run('model', () => doGenerate())
        const { timestamp, ...response } = stored.response ?? {}
        const at = timestamp === undefined ? {} : { timestamp: new Date(timestamp) }
        return { ...stored, response: { ...response, ...at } } as Awaited<ReturnType<typeof doGenerate>>
      },
    },
  })
  const { text } = await generateText({ model: durable, prompt: event.data.question, maxRetries: 0 })
  await step.sleep('a while', '1h')
  return text
})

export const chat = createWorkflow({ name: 'docs-ai-chat' }, async ({ event, step }: WorkflowArgs<Question>) => {
  const text = await step.run('answer', async ({ stream, signal }) => {
    const result = streamText({ model, prompt: event.data.question, abortSignal: signal, maxRetries: 0 })
    return streamUI(stream('chat'), result)
  })
  return text
})

/** A result as it is, of which JSON keeps the own fields alone. */
export const careless = createWorkflow(
  { name: 'docs-ai-careless' },
  async ({ event, step }: WorkflowArgs<Question>) => {
    const answer = await step.run('answer', () => generateText({ model, prompt: event.data.question, maxRetries: 0 }))
    return { text: answer.text, steps: answer.steps.length }
  },
)
