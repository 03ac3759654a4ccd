// The chat of the AI SDK over output streams: a `ChatTransport` whose answers are streams of runs. Runs in browsers.

import { readRunError, readRunStream, untilStored } from '@perdure/client/internal'
import type { StreamMessage } from '@perdure/protocol'
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai'

type SendOptions<Message extends UIMessage> = Parameters<ChatTransport<Message>['sendMessages']>[0]
type ReconnectOptions<Message extends UIMessage> = Parameters<ChatTransport<Message>['reconnectToStream']>[0]

/** The run that writes an answer. */
export interface ChatRun {
  readonly runId: string
  /** A token of the run, which your server makes. */
  readonly token: string
  /** Where the answer begins in the stream of a run that has given earlier answers. Default: at the start of the stream. */
  readonly offset?: string
}

/** The engine's address, and how the runs of a chat begin. */
export interface PerdureChatTransportOptions<Message extends UIMessage = UIMessage> {
  /** URL of the engine, which must allow the origin of the page. */
  readonly url: string
  /** The name of the output stream that the runs write to. Default `chat`. */
  readonly stream?: string
  /** Starts a run for the messages, or wakes the run of the chat, by a call to your server. */
  readonly send: (options: SendOptions<Message>) => Promise<ChatRun>
  /** After a reload of the page, finds the run of an unfinished answer; null if there is none. Default: there is none. */
  readonly reconnect?: (options: ReconnectOptions<Message>) => Promise<ChatRun | null>
  /**
   * Called when a connection to the engine has opened and when one has failed. The transport reconnects by itself, with growing
   * pauses.
   */
  readonly onLive?: (isLive: boolean) => void
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
}

/**
 * Shows the output streams that `streamUI` writes with `useChat` of the AI SDK. An answer survives a reload of the page, and a
 * crash of the runner or the engine. `stop()` only ends the connection: cancel the run on your server.
 */
export class PerdureChatTransport<Message extends UIMessage = UIMessage> implements ChatTransport<Message> {
  /** A reconnect shows the answer from its beginning. */
  readonly resumeStreamIsReplay = true
  readonly #options: PerdureChatTransportOptions<Message>

  constructor(options: PerdureChatTransportOptions<Message>) {
    this.#options = options
  }

  /** Called by the AI SDK: starts or wakes a run, and returns its answer. */
  async sendMessages(options: SendOptions<Message>): Promise<ReadableStream<UIMessageChunk>> {
    return this.#answer(await this.#options.send(options), options.abortSignal)
  }

  /** Called by the AI SDK: returns the answer that is under way. */
  async reconnectToStream(options: ReconnectOptions<Message>): Promise<ReadableStream<UIMessageChunk> | null> {
    const run = await this.#options.reconnect?.(options)
    return run ? this.#answer(run, options.abortSignal) : null
  }

  #answer(run: ChatRun, abortSignal: AbortSignal | undefined): ReadableStream<UIMessageChunk> {
    const stopping = new AbortController()
    const signal = abortSignal ? AbortSignal.any([abortSignal, stopping.signal]) : stopping.signal
    const { stream = 'chat' } = this.#options
    const chunks = uiChunks(run, { ...this.#options, stream, signal })
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

/** How to read the stream of one run, from an offset. */
type RunStream = Parameters<typeof readRunStream>[0] & Required<ChatRun> & { signal: AbortSignal }

/** How to read the answer. */
type Followed = Omit<RunStream, keyof ChatRun>

/** Yields the chunks of one answer, across all runs that continue the run. */
async function* uiChunks({ runId, token, offset = '-1' }: ChatRun, options: Followed): AsyncGenerator<UIMessageChunk> {
  const answer = new Answer()
  yield { type: 'start', messageId: offset === '-1' ? runId : `${runId}:${offset}` }
  let at: { runId: string; offset: string } | undefined = { runId, offset }
  while (at) {
    const run: RunStream = { ...options, ...at, token }
    at = undefined
    for await (const messages of untilOver(run, answer)) {
      for (const message of messages) {
        if ('end' in message && message.end === 'failed') {
          yield { type: 'error', errorText: (await readRunError(run)) ?? 'The run has failed' }
          return
        }
        yield* answer.chunksOf(message, run.runId)
        if (answer.isOver) return
        if ('end' in message && message.continuedAs !== undefined) at = { runId: message.continuedAs, offset: '-1' }
      }
    }
  }
  if (answer.finish) yield answer.finish
}

/**
 * Yields the messages of a run until it ends, or until its finished answer is stored
 * (docs/decisions/0065-the-end-of-a-chat-message.md).
 */
async function* untilOver(run: RunStream, answer: Answer): AsyncGenerator<readonly StreamMessage[]> {
  const leaving = new AbortController()
  const signal = AbortSignal.any([run.signal, leaving.signal])
  const reading = readRunStream<UIMessageChunk>({ ...run, signal })
  try {
    for (;;) {
      const next = reading.next()
      const { value, done } = await (answer.finish ? orStored(next, { ...run, next: answer.next }) : next)
      if (done) return
      yield value
    }
  } finally {
    leaving.abort()
    reading.return().catch(() => {})
  }
}

type Batch = IteratorResult<readonly StreamMessage[], void>

/** The next messages, or the end once the messages read before are stored for good. */
async function orStored(next: Promise<Batch>, read: RunStream & { next: number }): Promise<Batch> {
  const stopping = new AbortController()
  const stored = untilStored({ ...read, signal: AbortSignal.any([read.signal, stopping.signal]) })
  try {
    return await Promise.race([next, stored.then((): Batch => ({ done: true, value: undefined }))])
  } finally {
    stopping.abort()
    for (const lost of [next, stored]) lost.catch(() => {})
  }
}

/** Turns messages of a stream into chunks of the user interface. */
class Answer {
  isOver = false
  /** The end of the answer. It counts once its step is stored. */
  finish: UIMessageChunk | undefined
  /** Number of the next message. */
  next = 0
  /** Step of the newest message, together with its run. */
  #step: string | undefined
  /** Step of the newest part of the answer. */
  #shownStep: string | undefined
  /** Step of `finish`. */
  #finishStep: string | undefined

  chunksOf(message: StreamMessage, runId: string): UIMessageChunk[] {
    this.next = message.n + 1
    if ('end' in message) return this.#ended(message)
    if (message.step !== undefined) this.#step = `${runId} ${message.step}`
    if ('rollback' in message) return this.#withdrawn()
    // Steps of a chat write one after the other: once another step writes, the step of `finish` is stored.
    if (this.finish && this.#finishStep !== this.#step) return [this.#over(this.finish)]
    return this.#shown(message.chunk as UIMessageChunk)
  }

  /** Each step of the run is one step of the message, with or without its own `start-step`. */
  #shown(chunk: UIMessageChunk): UIMessageChunk[] {
    if (typeof chunk?.type !== 'string' || chunk.type === 'start-step') return []
    if (chunk.type === 'finish') {
      this.finish = chunk
      this.#finishStep = this.#step
      return []
    }
    if (this.#shownStep === this.#step) return [chunk]
    this.#shownStep = this.#step
    return [{ type: 'start-step' }, chunk]
  }

  #withdrawn(): UIMessageChunk[] {
    if (this.#finishStep === this.#step) this.finish = undefined
    return this.#shownStep === this.#step ? [{ type: 'reset-step' }] : []
  }

  #ended({ end, continuedAs }: Extract<StreamMessage, { end: string }>): UIMessageChunk[] {
    this.next = 0
    if (continuedAs !== undefined) return this.finish ? [this.#over(this.finish)] : []
    if (end === 'cancelled') return [this.#over({ type: 'abort', reason: 'The run was cancelled' })]
    return [this.#over(this.finish ?? { type: 'finish' })]
  }

  #over(last: UIMessageChunk): UIMessageChunk {
    this.isOver = true
    return last
  }
}
