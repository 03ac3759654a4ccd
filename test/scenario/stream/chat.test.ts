// A chat of the AI SDK on a real engine: a step streams the answer of a model, and the transport reads it with a token for the
// run (docs/ai.md#chats).

import { createWorkflow, type Workflow } from '@perdure/sdk'
import { PerdureChatTransport, streamUI } from '@perdure/sdk/ai'
import { readUIMessageStream, streamText, type UIMessage, type UIMessageChunk } from 'ai'
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'
import { expect, test } from 'vitest'
import { gate, scenario, unique } from '../../kit/index.ts'
import { serveOver } from '../sdk/transports.entry.ts'

const { api, url } = await scenario({ realTime: true })

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: 2, reasoning: undefined },
}
type Part = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never

const begin = [{ type: 'text-start' as const, id: '1' }]
const say = (delta: string) => ({ type: 'text-delta' as const, id: '1', delta })
const end = [
  { type: 'text-end' as const, id: '1' },
  { type: 'finish' as const, finishReason: { unified: 'stop' as const, raw: 'stop' }, usage },
]

async function shown(
  stream: ReadableStream<UIMessageChunk> | null,
  onMessage = (_: UIMessage) => {},
): Promise<UIMessage> {
  let last: UIMessage | undefined
  const all = readUIMessageStream({ stream: stream as ReadableStream<UIMessageChunk>, terminateOnError: true })
  for await (const message of all) {
    last = structuredClone(message)
    onMessage(last)
  }
  return last as UIMessage
}

const textOf = (message: UIMessage | undefined) =>
  message?.parts.flatMap(part => (part.type === 'text' ? part.text : [])).join('')

/** Serves a workflow, starts a run of it, and returns the transport of its chat. */
async function chatOf(workflow: Workflow) {
  await serveOver('Connect', { app: unique('app'), workflows: [workflow], engineUrl: url })
  let runId = ''
  const run = async () => ({
    runId,
    token: ((await api.post(`/runs/${runId}/tokens`, {})).json as { token: string }).token,
  })
  const transport = new PerdureChatTransport({
    url,
    send: async () => {
      runId = (await api.send({ name: workflow.name })).runId as string
      return run()
    },
    reconnect: run,
  })
  const asked = { trigger: 'submit-message' as const, chatId: 'c', messageId: undefined, messages: [] }
  return {
    runId: () => runId,
    send: () => transport.sendMessages({ ...asked, abortSignal: undefined }),
    reload: () => transport.reconnectToStream({ chatId: 'c' }),
  }
}

test('an answer whose first attempt fails is shown as it is at last, also after a reload', async () => {
  const seen = gate()
  const failing = new ReadableStream<Part>({
    async start(controller) {
      for (const part of [...begin, say('Wro')]) controller.enqueue(part)
      await seen.opened
      controller.enqueue({ type: 'error', error: new Error('the model is down') })
      controller.close()
    },
  })
  const right = convertArrayToReadableStream<Part>([...begin, say('Ri'), say('ght'), ...end])
  const model = new MockLanguageModelV4({ doStream: [{ stream: failing }, { stream: right }] })
  const workflow = createWorkflow({ name: unique('chat'), retry: { initialMs: 1 } }, ({ step }) =>
    step.run('answer', ({ stream, signal }) => {
      const result = streamText({ model, prompt: 'Hi', abortSignal: signal, maxRetries: 0, onError: () => {} })
      return streamUI(stream('chat'), result)
    }),
  )
  const chat = await chatOf(workflow)
  const sent = await shown(await chat.send(), message => {
    if (textOf(message) === 'Wro') seen.open()
  })
  expect(textOf(sent)).toBe('Right')
  expect((await api.succeeded(chat.runId())).result).toBe('Right')
  expect(await shown(await chat.reload())).toEqual(sent)
})

test('an answer ends while its run waits for the next question', async () => {
  const model = new MockLanguageModelV4({
    doStream: [{ stream: convertArrayToReadableStream<Part>([...begin, say('Hello'), ...end]) }],
  })
  const workflow = createWorkflow({ name: unique('chat') }, async ({ step }) => {
    await step.run('answer', ({ stream }) =>
      streamUI(stream('chat'), streamText({ model, prompt: 'Hi', maxRetries: 0 })),
    )
    await step.waitForSignal('next', { signal: 'question' })
  })
  const chat = await chatOf(workflow)
  expect(textOf(await shown(await chat.send()))).toBe('Hello')
  expect((await api.run(chat.runId())).status).toBe('waiting')
  await api.post(`/runs/${chat.runId()}/signals/question`, {})
})

test('an answer that was finished before its attempt failed is taken back', async () => {
  const seen = gate()
  const texts = ['Wrong', 'Right']
  const doStream = texts.map(text => ({ stream: convertArrayToReadableStream<Part>([...begin, say(text), ...end]) }))
  const model = new MockLanguageModelV4({ doStream })
  const workflow = createWorkflow({ name: unique('chat'), retry: { initialMs: 1 } }, ({ step }) =>
    step.run('answer', async ({ stream, attempt }) => {
      const text = await streamUI(stream('chat'), streamText({ model, prompt: 'Hi', maxRetries: 0 }))
      if (attempt > 1) return text
      await seen.opened
      throw new Error('the answer could not be saved')
    }),
  )
  const chat = await chatOf(workflow)
  const shownTexts: string[] = []
  const sent = await shown(await chat.send(), message => {
    shownTexts.push(textOf(message) ?? '')
    if (textOf(message) === 'Wrong') seen.open()
  })
  expect(shownTexts).toContain('Wrong')
  expect(textOf(sent)).toBe('Right')
})
