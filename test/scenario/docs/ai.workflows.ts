// The code of docs/ai.md, line by line. `ai.test.ts` runs it, with the model of the AI SDK's own tests.

import { createWorkflow, type WorkflowArgs } from '@perdure/sdk'
import { streamUI } from '@perdure/sdk/ai'
import { generateText, streamText, wrapLanguageModel } from 'ai'
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'

const counted = { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined }
const usage = { inputTokens: counted, outputTokens: { total: 2, text: 2, reasoning: undefined } }

export const model = new MockLanguageModelV4({
  doGenerate: async () => ({
    content: [{ type: 'text', text: 'It rains.' }],
    finishReason: { unified: 'stop', raw: 'stop' },
    usage,
    warnings: [],
    response: { id: 'response-1', timestamp: new Date(0), modelId: 'mock' },
  }),
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

/** A result as it is; JSON keeps only its own fields. */
export const careless = createWorkflow(
  { name: 'docs-ai-careless' },
  async ({ event, step }: WorkflowArgs<Question>) => {
    const answer = await step.run('answer', () => generateText({ model, prompt: event.data.question, maxRetries: 0 }))
    return { text: answer.text, steps: answer.steps.length }
  },
)
