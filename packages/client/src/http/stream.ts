// Follows a stream over any number of connections: when one drops or goes silent, it reconnects after a growing pause
// and resumes after the last frame received.

import { ApiError, ConnectionError, PerdureError } from '../errors/call-errors.ts'
import { addressOf, type Connection, noStream, type Request, refusal, unreachable } from './exchange.ts'
import { readMessages } from './sse.ts'

/** How a stream detects dead connections and reconnects. */
export interface StreamSettings {
  /** A connection without data for this long counts as dead: the engine writes a comment every 15 s. */
  silenceMs: number
  /** The first pause before a reconnect; each further pause is twice as long. */
  retryMs: number
  /** The longest pause before a reconnect. */
  retryMsMax: number
  /** The stream fails after this many useless connections in a row: without a frame, and closed within `retryMsMax`. */
  attemptsMax: number
}

/** A stream that can be followed. */
export interface Source {
  /** The request of the next connection. A stream with a position resumes after `lastSeq`. */
  request(lastSeq: number | undefined): Request
  /** Whether the stream is over after the server ended a connection. If not, `follow` reconnects. */
  isOver(lastFrame: Frame | undefined): Promise<boolean>
}

export type Frame = { seq?: number } & Record<string, unknown>

/** Yields every frame. Throws if no engine gives a first connection; later failures lead to a reconnect. */
export async function* follow(
  connection: Connection,
  source: Source,
  settings: StreamSettings & {
    signal: AbortSignal | undefined
    onOpen?: (() => void) | undefined
    onFailure?: (() => void) | undefined
  },
): AsyncGenerator<Frame, void, undefined> {
  const { retryMs, retryMsMax, attemptsMax, signal } = settings
  let last: Frame | undefined
  let everOpen = false
  const { engines } = connection
  for (let failures = 0; ; failures++) {
    const { url } = engines
    const request = source.request(last?.seq)
    let failure: unknown = new ConnectionError(addressOf(engines, request), 'the stream kept ending')
    let openedAt = Number.POSITIVE_INFINITY
    const onOpen = () => {
      everOpen = true
      openedAt = performance.now()
      settings.onOpen?.()
    }
    try {
      for await (const frame of connect(connection, { ...request, url: url + request.path }, { ...settings, onOpen })) {
        failures = 0
        last = frame
        yield frame
      }
      if (await source.isOver(last)) return
    } catch (error) {
      signal?.throwIfAborted()
      settings.onFailure?.()
      const isNextUntried = failures + 1 < engines.size
      if ((!everOpen && !isNextUntried) || isFinal(error)) throw error
      failure = error
    }
    // An engine that shuts down ends its streams.
    engines.passOver(url)
    if (!everOpen) continue
    // A quiet stream that a proxy closes now and then is healthy: a connection that lasted is not a failure.
    if (performance.now() - openedAt >= retryMsMax) failures = 0
    if (failures >= attemptsMax) throw failure
    await backOff(Math.min(retryMsMax, retryMs * 2 ** failures), signal)
  }
}

/** Whether a refusal is final. 5xx and 429 are temporary. */
export const isFinal = (error: unknown) => error instanceof ApiError && error.status < 500 && error.status !== 429

/** Yields the frames of one connection. */
async function* connect(
  connection: Connection,
  request: Request & { url: string },
  { silenceMs, signal, onOpen }: { silenceMs: number; signal: AbortSignal | undefined; onOpen(): void },
): AsyncGenerator<Frame, void, undefined> {
  const cut = new AbortController()
  const both = signal ? AbortSignal.any([signal, cut.signal]) : cut.signal
  const inTime: InTime = async promise => {
    const timer = setTimeout(() => cut.abort(new Error(`silent for ${silenceMs} ms`)), silenceMs)
    return promise.finally(() => clearTimeout(timer))
  }
  try {
    const { fetch } = connection
    const response = await inTime(fetch(request.url, { ...request, signal: both }))
    const answer = async () => ({
      url: request.url,
      status: response.status,
      body: await inTime(response.text()),
    })
    if (!response.ok) throw refusal({ ...(await answer()), headers: response.headers }, connection.apiKey !== undefined)
    const type = response.headers.get('content-type')
    if (type && !type.startsWith('text/event-stream')) throw noStream(await answer())
    onOpen()
    for await (const data of readMessages(chunksOf(response, inTime))) yield JSON.parse(data) as Frame
  } catch (error) {
    if (error instanceof PerdureError) throw error
    throw unreachable(request.url, cut.signal.aborted ? cut.signal.reason : error)
  } finally {
    cut.abort()
  }
}

/** Awaits data of the engine; closes the connection if none arrives in time. */
type InTime = <T>(promise: Promise<T>) => Promise<T>

/** The body's chunks. The silence timer runs only while waiting for the engine, not while the consumer is busy. */
async function* chunksOf({ body }: Response, inTime: InTime): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader()
  while (reader) {
    const chunk = await inTime(reader.read())
    if (chunk.done) return
    yield chunk.value
  }
}

/** Waits 75 to 100 % of `ms`, at random, so that many clients do not reconnect at the same moment. */
export async function backOff(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>(resolve => {
    const wake = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const timer = setTimeout(wake, ms * (0.75 + Math.random() / 4))
    signal?.addEventListener('abort', wake)
  })
  signal?.throwIfAborted()
}
