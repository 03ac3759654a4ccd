// Follows a stream over as many connections as it takes: a dropped or silent one is opened again, after a growing
// pause, from where the last one got to.

import { ApiError, ConnectionError } from './errors.ts'
import { type Connection, type Request, refusal, unreachable } from './exchange.ts'
import { readMessages } from './sse.ts'

export interface StreamSettings {
  /** A connection that gives nothing for so long is dead: the engine writes a comment every 15 s. */
  silenceMs: number
  /** The first pause before a connection is opened again; each further one is twice as long. */
  retryMs: number
  retryMsMax: number
  /** So many connections in a row that come to nothing (no frame, gone within `retryMsMax`), and the stream ends. */
  attemptsMax: number
}

/** What is followed. */
export interface Source {
  /** The request of a connection that starts after the last frame seen, if the stream can do that. */
  request(lastSeq: number | undefined): Request
  /** Whether a stream that the server ended is over; otherwise it is opened again. */
  isOver(lastFrame: Frame | undefined): Promise<boolean>
}

export type Frame = { seq?: number } & Record<string, unknown>

/** Gives every frame. The first connection has to succeed; from then on drops are mended. */
export async function* follow(
  connection: Connection,
  source: Source,
  settings: StreamSettings & { signal: AbortSignal | undefined },
): AsyncGenerator<Frame, void, undefined> {
  const { retryMs, retryMsMax, attemptsMax, signal } = settings
  let last: Frame | undefined
  let everOpen = false
  for (let failures = 0; ; failures++) {
    const request = source.request(last?.seq)
    let failure: unknown = new ConnectionError(request.url, 'the stream ended again and again')
    let openedAt = Number.POSITIVE_INFINITY
    const onOpen = () => {
      everOpen = true
      openedAt = performance.now()
    }
    try {
      for await (const frame of connect(connection, request, { ...settings, onOpen })) {
        failures = 0
        last = frame
        yield frame
      }
      if (await source.isOver(last)) return
    } catch (error) {
      signal?.throwIfAborted()
      if (!everOpen || isFinal(error)) throw error
      failure = error
    }
    // A quiet stream that something on the way closes now and then is well.
    if (performance.now() - openedAt >= retryMsMax) failures = 0
    if (failures >= attemptsMax) throw failure
    await backOff(Math.min(retryMsMax, retryMs * 2 ** failures), signal)
  }
}

/** The engine's no is final, unless it is only out of order for now. */
const isFinal = (error: unknown) => error instanceof ApiError && error.status < 500 && error.status !== 429

interface OneConnection {
  silenceMs: number
  signal: AbortSignal | undefined
  onOpen(): void
}

/** The frames of one connection. */
async function* connect(
  connection: Connection,
  request: Request,
  { silenceMs, signal, onOpen }: OneConnection,
): AsyncGenerator<Frame, void, undefined> {
  const cut = new AbortController()
  const both = signal ? AbortSignal.any([signal, cut.signal]) : cut.signal
  const silence = () => cut.abort(new Error(`silent for ${silenceMs} ms`))
  try {
    const { fetch } = connection
    const response = await within(silenceMs, silence, fetch(request.url, { ...request, signal: both }))
    if (!response.ok) throw refusal(response.status, await within(silenceMs, silence, response.text()))
    onOpen()
    for await (const data of readMessages(chunksOf(response, silenceMs, silence)))
      yield JSON.parse(data) as Frame
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw unreachable(request.url, cut.signal.aborted ? cut.signal.reason : error)
  } finally {
    cut.abort()
  }
}

/** The clock of the silence runs only while we wait for the engine, not while the reader of the frames is busy. */
async function* chunksOf(
  response: Response,
  silenceMs: number,
  silence: () => void,
): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader()
  for (;;) {
    const chunk = await within(
      silenceMs,
      silence,
      reader?.read() ?? Promise.resolve({ done: true as const, value: undefined }),
    )
    if (chunk.done) return
    yield chunk.value
  }
}

async function within<T>(ms: number, late: () => void, promise: Promise<T>): Promise<T> {
  const timer = setTimeout(late, ms)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
  }
}

/** Waits; a quarter of it is left to chance, so that many clients do not come back at once. */
async function backOff(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  let wake = () => {}
  const woken = new Promise<void>(resolve => {
    wake = resolve
  })
  const timer = setTimeout(wake, ms * (0.75 + Math.random() / 4))
  signal?.addEventListener('abort', wake)
  await woken
  clearTimeout(timer)
  signal?.removeEventListener('abort', wake)
  signal?.throwIfAborted()
}
