// The chat of the AI SDK over output streams: a `ChatTransport` whose answers are streams of runs. Runs in browsers.

import { readRunStream } from '@perdure/client/internal'
import type { StreamMessage } from '@perdure/protocol'
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai'

type SendOptions<Message extends UIMessage> = Parameters<ChatTransport<Message>['sendMessages']>[0]
type ReconnectOptions<Message extends UIMessage> = Parameters<ChatTransport<Message>['reconnectToStream']>[0]

/** The run that writes an answer. */
export interface ChatRun {
  readonly runId: string
  /** A token of the run, which your server makes. */
  readonly token: string
  /** Where the answer begins in the stream of a run that has given others before. Default: at its start. */
  readonly offset?: string
}

/** Where the engine is, and how the runs of a chat begin. */
export interface PerdureChatTransportOptions<Message extends UIMessage = UIMessage> {
  /** URL of the engine, which must allow the origin of the page. */
  readonly url: string
  /** The name of the output stream that the runs write to. Default `chat`. */
  readonly stream?: string
  /** Starts a run for the messages, or wakes the run of the chat, by a call of your server. */
  readonly send: (options: SendOptions<Message>) => Promise<ChatRun>
  /** Finds the run of the answer that may be under way, after a reload of the page; null if none is. Default: none is. */
  readonly reconnect?: (options: ReconnectOptions<Message>) => Promise<ChatRun | null>
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
}

/**
 * Shows the output streams that `streamUI` writes with `useChat` of the AI SDK. An answer survives a reload of the page, and a crash of the runner or
 * the engine. `stop()` ends the connection alone: cancel the run on your server.
 */
export class PerdureChatTransport<Message extends UIMessage = UIMessage> implements ChatTransport<Message> {
  /** A reconnect shows the answer from its beginning. */
  readonly resumeStreamIsReplay = true
  readonly #options: PerdureChatTransportOptions<Message>

  constructor(options: PerdureChatTransportOptions<Message>) {
    this.#options = options
  }

  /** Called by the AI SDK: starts or wakes a run, and gives its answer. */
  async sendMessages(options: SendOptions<Message>): Promise<ReadableStream<UIMessageChunk>> {
    return this.#answer(await this.#options.send(options), options.abortSignal)
  }

  /** Called by the AI SDK: gives the answer that is under way. */
  async reconnectToStream(options: ReconnectOptions<Message>): Promise<ReadableStream<UIMessageChunk> | null> {
    const run = await this.#options.reconnect?.(options)
    return run ? this.#answer(run, options.abortSignal) : null
  }

  #answer(run: ChatRun, abortSignal: AbortSignal | undefined): ReadableStream<UIMessageChunk> {
    const stopping = new AbortController()
    const signal = abortSignal ? AbortSignal.any([abortSignal, stopping.signal]) : stopping.signal
    const { url, stream = 'chat', fetch } = this.#options
    const chunks = uiChunks(run, { url, stream, signal, fetch })
    return new ReadableStream({
      async pull(controller) {
        try {
          const { done, value } = await chunks.next()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          controller.error(error)
        }
      },
      cancel: reason => stopping.abort(reason),
    })
  }
}

interface Followed {
  url: string
  stream: string
  fetch: typeof globalThis.fetch | undefined
  signal: AbortSignal
}

/** Yields the chunks of one answer, over all runs that the run continues as. */
async function* uiChunks({ runId, token, offset = '-1' }: ChatRun, options: Followed): AsyncGenerator<UIMessageChunk> {
  const answer = new Answer()
  yield { type: 'start', messageId: offset === '-1' ? runId : `${runId}:${offset}` }
  let at: { runId: string; offset: string } | undefined = { runId, offset }
  while (at) {
    const from: { runId: string; offset: string } = at
    at = undefined
    for await (const messages of readRunStream({ ...options, ...from, token })) {
      for (const message of messages) {
        if ('end' in message && message.continuedAs !== undefined) at = { runId: message.continuedAs, offset: '-1' }
        else yield* answer.chunksOf(message, from.runId)
        if (answer.isOver) return
      }
    }
  }
}

/** Turns messages of a stream into chunks of the user interface. */
class Answer {
  isOver = false
  /** The step that the newest part of the answer is of, and the run of that step. */
  #step: string | undefined
  /** The newest step was withdrawn, and its begin was not. */
  #isReset = false

  chunksOf(message: StreamMessage, runId: string): UIMessageChunk[] {
    if ('end' in message) return [this.#ended(message.end)]
    if ('rollback' in message) return this.#withdrawn(`${runId} ${message.step}`)
    const chunk = message.chunk as UIMessageChunk
    if (message.step !== undefined) this.#step = `${runId} ${message.step}`
    if (typeof chunk?.type !== 'string') return []
    const isRepeated = chunk.type === 'start-step' && this.#isReset
    this.#isReset = false
    this.isOver = chunk.type === 'finish'
    return isRepeated ? [] : [chunk]
  }

  #withdrawn(step: string): UIMessageChunk[] {
    if (step !== this.#step || this.#isReset) return []
    this.#isReset = true
    return [{ type: 'reset-step' }]
  }

  #ended(status: string): UIMessageChunk {
    this.isOver = true
    if (status === 'failed') return { type: 'error', errorText: 'The run has failed' }
    return status === 'cancelled' ? { type: 'abort', reason: 'The run was cancelled' } : { type: 'finish' }
  }
}
