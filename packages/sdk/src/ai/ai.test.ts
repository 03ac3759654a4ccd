// Answers of the AI SDK in output streams: what `streamUI` writes, and the message that a chat makes of what the transport reads, with the
// `ai` package and its mock model.

import { readUIMessageStream, streamText, tool, type UIMessage, type UIMessageChunk } from 'ai'
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type EngineServer, startEngine } from '../engine/engine-server.testkit.ts'
import { StepStreams } from '../stream/step-streams.ts'
import { PerdureChatTransport, streamUI } from './index.ts'

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: 2, reasoning: undefined },
}
const text = (...deltas: string[]) => [
  { type: 'text-start' as const, id: '1' },
  ...deltas.map(delta => ({ type: 'text-delta' as const, id: '1', delta })),
  { type: 'text-end' as const, id: '1' },
]
const finish = (unified: 'stop' | 'tool-calls') =>
  ({ type: 'finish', finishReason: { unified, raw: undefined }, usage }) as const
type Part = ReturnType<typeof text>[number] | ReturnType<typeof finish> | { type: 'error'; error: unknown } | object

/** Streams the answers of a model, one for each of its calls; returns the chunks, and the text or the error. */
async function written(answers: Part[][], tools = {}) {
  const chunks: UIMessageChunk[] = []
  const outlet = {
    appendsMax: 1,
    append: async (append: { chunks: readonly string[] }) => {
      for (const chunk of append.chunks) chunks.push(JSON.parse(chunk))
    },
  }
  const { signal } = new AbortController()
  const streams = new StepStreams({ stepId: 'h', step: 'ask', outlet, signal, onAppended: () => {}, onGone: () => {} })
  const doStream = answers.map(parts => ({ stream: convertArrayToReadableStream(parts as never[]) }))
  const result = streamText({
    model: new MockLanguageModelV4({ doStream }),
    prompt: 'Hi',
    tools,
    stopWhen: ({ steps }) => steps.length === answers.length,
    onError: () => {},
    maxRetries: 0,
  })
  const outcome = await streamUI(streams.of('chat'), result).catch(error => error)
  await streams.flush()
  return { chunks, outcome }
}

const types = (chunks: UIMessageChunk[]) => chunks.map(({ type }) => type)

describe('streamUI', () => {
  test('writes one step of a message, and gives the text', async () => {
    const { chunks, outcome } = await written([[...text('Hel', 'lo'), finish('stop')]])
    expect(outcome).toBe('Hello')
    expect(types(chunks)).toEqual([
      'start-step',
      'text-start',
      'text-delta',
      'text-delta',
      'text-end',
      'finish-step',
      'finish',
    ])
  })

  test('writes one step also where the model is called again after a tool', async () => {
    const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: '{"city":"Bern"}' }
    const weather = tool({ inputSchema: z.object({ city: z.string() }), execute: async () => 'rain' })
    const { chunks, outcome } = await written(
      [
        [call, finish('tool-calls')],
        [...text('Rain'), finish('stop')],
      ],
      { weather },
    )
    expect(outcome).toBe('Rain')
    expect(types(chunks).filter(type => type.endsWith('step'))).toEqual(['start-step', 'finish-step'])
    expect(types(chunks)).toContain('tool-output-available')
  })

  test('does not end the message when the model calls tools that other steps execute', async () => {
    const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: '{"city":"Bern"}' }
    const weather = tool({ inputSchema: z.object({ city: z.string() }) })
    const { chunks } = await written([[call, finish('tool-calls')]], { weather })
    expect(types(chunks)).toEqual(['start-step', 'tool-input-available', 'finish-step'])
  })

  test('rejects with the error of the model', async () => {
    const error = new Error('the model is down')
    const { outcome, chunks } = await written([[...text('Hel'), { type: 'error', error }]])
    expect(outcome).toBe(error)
    expect(types(chunks)).not.toContain('finish')
  })
})

describe('the transport', () => {
  let engine: EngineServer

  afterEach(() => engine.close())

  const textChunks = (...deltas: string[]): UIMessageChunk[] => [
    { type: 'start-step' },
    ...text(...deltas),
    { type: 'finish-step' },
  ]
  /** Messages of a step, from number `n` on. */
  const messages = (n: number, step: string, attempt: number, chunks: UIMessageChunk[]) =>
    chunks.map((chunk, i) => ({ n: n + i, chunk, ...(i === 0 && { step, attempt }) }))
  /** A connection that sends these messages and ends. */
  const page = (messages: object[], control: object = {}) => ({
    status: 200,
    body: `event: data\ndata: ${JSON.stringify(messages)}\n\nevent: control\ndata: ${JSON.stringify(control)}\n\n`,
    headers: { 'content-type': 'text/event-stream' },
  })

  function transport(run: object = {}) {
    const send = async () => ({ runId: 'run_1', token: 'to.ken', ...run })
    return new PerdureChatTransport({ url: engine.url, send, reconnect: async () => send() })
  }

  const asked = {
    trigger: 'submit-message' as const,
    chatId: 'c',
    messageId: undefined,
    messages: [] as UIMessage[],
  }

  async function shown(stream: ReadableStream<UIMessageChunk> | null): Promise<UIMessage | undefined> {
    let last: UIMessage | undefined
    const all = readUIMessageStream({ stream: stream as ReadableStream<UIMessageChunk>, terminateOnError: true })
    for await (const message of all) last = structuredClone(message)
    return last
  }

  const textOf = (message: UIMessage | undefined) =>
    message?.parts.flatMap(part => (part.type === 'text' ? part.text : [])).join('|')

  test('shows an answer, with the token in a header', async () => {
    engine = await startEngine(
      page([
        ...messages(0, 'ask', 1, textChunks('Hel', 'lo')),
        { n: 6, chunk: { type: 'finish' } },
        { n: 7, end: 'succeeded' },
      ]),
    )
    const message = await shown(await transport().sendMessages({ ...asked, abortSignal: undefined }))
    expect(message).toMatchObject({ id: 'run_1', role: 'assistant' })
    expect(textOf(message)).toBe('Hello')
    const [{ path, headers }] = engine.calls as [(typeof engine.calls)[number]]
    expect(path).toBe('/runs/run_1/streams/chat?live=sse&offset=-1')
    expect(headers.authorization).toBe('Bearer to.ken')
  })

  test('drops what a failed attempt has written, of that step alone', async () => {
    engine = await startEngine(
      page(
        [
          ...messages(0, 'think', 1, textChunks('So')),
          ...messages(5, 'ask', 1, textChunks('Wro').slice(0, 3)),
          { n: 8, rollback: 5, step: 'ask', attempt: 1, reason: 'failed' },
          ...messages(9, 'ask', 2, textChunks('Right')),
        ],
        { streamNextOffset: '14' },
      ),
      page([{ n: 14, end: 'succeeded' }], { streamClosed: true }),
    )
    const message = await shown(await transport().reconnectToStream({ chatId: 'c' }))
    expect(textOf(message)).toBe('So|Right')
    expect(message?.parts.map(({ type }) => type)).toEqual(['step-start', 'text', 'step-start', 'text'])
    expect(engine.calls[1]?.path).toContain('offset=14')
  })

  test('goes on after a 503, and in the run that the run continues as', async () => {
    engine = await startEngine(
      page([], { streamNextOffset: '8' }),
      { status: 503, body: {} },
      page([...messages(0, 'ask', 1, textChunks('a')), { n: 5, end: 'succeeded', continuedAs: 'run_2' }], {
        streamClosed: true,
      }),
      page([
        ...messages(0, 'ask', 1, textChunks('b')),
        { n: 5, chunk: { type: 'finish' } },
        { n: 6, end: 'succeeded' },
      ]),
    )
    expect(
      textOf(await shown(await transport({ offset: '7' }).sendMessages({ ...asked, abortSignal: undefined }))),
    ).toBe('a|b')
    expect(engine.calls.map(({ path }) => path?.replace('/streams/chat?live=sse&offset=', ' '))).toEqual([
      '/runs/run_1 7',
      '/runs/run_1 8',
      '/runs/run_1 8',
      '/runs/run_2 -1',
    ])
  })

  const chunksOf = async (run: object = {}) => {
    const chunks: UIMessageChunk[] = []
    const stream = await transport(run).sendMessages({ ...asked, abortSignal: undefined })
    for await (const chunk of stream as unknown as AsyncIterable<UIMessageChunk>) chunks.push(chunk)
    return chunks
  }
  const finished = (n: number, ...deltas: string[]) => [
    ...messages(n, 'ask', 1, textChunks(...deltas)),
    { n: n + deltas.length + 4, chunk: { type: 'finish', finishReason: 'stop' } },
  ]

  test('drops an answer that was finished and not stored', async () => {
    engine = await startEngine(
      page(finished(0, 'Wrong'), { streamNextOffset: '6' }),
      page(
        [
          { n: 6, rollback: 0, step: 'ask', attempt: 1, reason: 'lost' },
          ...finished(7, 'Right'),
          { n: 13, end: 'succeeded' },
        ],
        { streamClosed: true },
      ),
    )
    const chunks = await chunksOf()
    expect(types(chunks).filter(type => ['reset-step', 'start-step', 'finish'].includes(type))).toEqual([
      'start-step',
      'reset-step',
      'finish',
    ])
    expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' })
  })

  test('ends where another step begins, in a run that gives several answers', async () => {
    engine = await startEngine(
      page([...finished(0, 'One'), ...messages(6, 'ask:1', 1, textChunks('Two'))], { streamNextOffset: '11' }),
    )
    expect(types(await chunksOf())).toEqual([
      'start',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'finish-step',
      'finish',
    ])
  })

  test('makes a step of the message of each step that writes', async () => {
    const output = (toolCallId: string) => ({ type: 'tool-output-available', toolCallId, output: 1 })
    engine = await startEngine(
      page([
        ...messages(0, 'ask', 1, textChunks('Hm')),
        { n: 5, chunk: output('a'), step: 'tool', attempt: 1 },
        { n: 6, rollback: 5, step: 'tool', attempt: 1, reason: 'lost' },
        { n: 7, chunk: output('a'), step: 'tool', attempt: 1 },
        { n: 8, end: 'succeeded' },
      ]),
    )
    expect(types(await chunksOf()).slice(-6)).toEqual([
      'finish-step',
      'start-step',
      'tool-output-available',
      'reset-step',
      'tool-output-available',
      'finish',
    ])
  })

  test('ends with the error of a run that has failed', async () => {
    engine = await startEngine(page([{ n: 0, end: 'failed' }]), {
      status: 200,
      body: { status: 'failed', error: { message: 'the budget of tokens is exceeded' } },
    })
    expect((await chunksOf()).at(-1)).toEqual({ type: 'error', errorText: 'the budget of tokens is exceeded' })
  })

  test('says when its connection is open', async () => {
    engine = await startEngine({ status: 503, body: {} })
    const live: boolean[] = []
    const bare = new PerdureChatTransport({
      url: engine.url,
      send: async () => ({ runId: 'run_1', token: 'to.ken' }),
      onLive: isLive => live.push(isLive),
    })
    await expect(shown(await bare.sendMessages({ ...asked, abortSignal: undefined }))).rejects.toThrow('503')
    expect(live).toEqual([false])
  })

  test.each([
    { end: 'failed', last: { type: 'error', errorText: 'The run has failed' } },
    { end: 'cancelled', last: { type: 'abort', reason: 'The run was cancelled' } },
    { end: 'succeeded', last: { type: 'finish' } },
  ])('ends with a run that has $end', async ({ end, last }) => {
    engine = await startEngine(page([{ n: 0, end }], { streamClosed: true }))
    expect(await chunksOf()).toEqual([{ type: 'start', messageId: 'run_1' }, last])
  })

  test('fails with the refusal of the engine', async () => {
    engine = await startEngine({
      status: 401,
      body: { error: { code: 'unauthorized', message: 'the token has expired' } },
    })
    const stream = await transport().sendMessages({ ...asked, abortSignal: undefined })
    await expect(shown(stream)).rejects.toMatchObject({
      code: 'unauthorized',
      message: expect.stringContaining('the token has expired'),
    })
  })

  test('stop ends the connection', async () => {
    engine = await startEngine('hang')
    const stopping = new AbortController()
    const stream = await transport().sendMessages({ ...asked, abortSignal: stopping.signal })
    const reader = stream.getReader()
    await reader.read()
    const next = reader.read()
    await engine.called(1)
    stopping.abort()
    await expect(next).rejects.toBe(stopping.signal.reason)
  })

  test('a reader that leaves ends the connection', async () => {
    engine = await startEngine('hang')
    const signals: AbortSignal[] = []
    const bare = new PerdureChatTransport({
      url: engine.url,
      send: async () => ({ runId: 'run_1', token: 'to.ken' }),
      fetch: (input, init) => {
        signals.push(init?.signal as AbortSignal)
        return fetch(input, init)
      },
    })
    const reader = (await bare.sendMessages({ ...asked, abortSignal: undefined })).getReader()
    await reader.read()
    const next = reader.read()
    await engine.called(1)
    await reader.cancel()
    expect(await next).toMatchObject({ done: true })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  })

  test('without `reconnect` there is no answer under way', async () => {
    engine = await startEngine('hang')
    const { reconnectToStream } = PerdureChatTransport.prototype
    const bare = new PerdureChatTransport({ url: engine.url, send: async () => ({ runId: 'r', token: 't' }) })
    expect(await reconnectToStream.call(bare, { chatId: 'c' })).toBeNull()
  })
})
