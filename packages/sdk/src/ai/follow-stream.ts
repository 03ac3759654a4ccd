// Follows an output stream of a run over HTTP, also in a browser (docs/streams.md#read-over-http). Called by the chat transport.

import { PerdureError } from '@perdure/client'

/** A message of an output stream. */
export type StreamMessage =
  | { n: number; chunk: unknown; step?: string; attempt?: number }
  | { n: number; rollback: number; step: string; attempt: number; reason: string }
  | { n: number; end: string; continuedAs?: string }

export interface FollowOptions {
  /** URL of the engine. */
  url: string
  runId: string
  /** A token of the run. */
  token: string
  /** The name of the stream. */
  name: string
  /** Where to begin. */
  offset: string
  signal: AbortSignal
  fetch: typeof globalThis.fetch
}

interface Page {
  messages: StreamMessage[]
  offset: string
  cursor: string | null
  isClosed: boolean
}

/** Longest wait for the answer to one request: a long poll takes 20 seconds. */
const ANSWER_MS_MAX = 40_000
/** How long an engine may be away. */
const AWAY_MS_MAX = 60_000
const RETRY_MS_MIN = 250
const RETRY_MS_MAX = 5_000
/** Statuses that another try may change. */
const PASSING: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504])

/** Yields the messages until the stream is closed. Throws a PerdureError if the engine refuses to give it, or is away for a minute. */
export async function* followStream(options: FollowOptions): AsyncGenerator<StreamMessage> {
  let page: Page = { messages: [], offset: options.offset, cursor: null, isClosed: false }
  while (!page.isClosed) {
    page = await nextPage(options, page)
    yield* page.messages
  }
}

async function nextPage(options: FollowOptions, last: Page): Promise<Page> {
  const { signal } = options
  const since = performance.now()
  for (let retryMs = RETRY_MS_MIN; ; retryMs = Math.min(RETRY_MS_MAX, 2 * retryMs)) {
    try {
      return await read(options, last)
    } catch (error) {
      signal.throwIfAborted()
      const isPassing = !(error instanceof PerdureError) || PASSING.has(error.status)
      if (!isPassing) throw error
      if (performance.now() - since > AWAY_MS_MAX)
        throw new PerdureError(
          { code: 'unreachable', status: 0, message: `No engine answers at ${options.url}` },
          { cause: error },
        )
    }
    await pause(retryMs, signal)
  }
}

async function read({ url, runId, name, token, signal, fetch }: FollowOptions, last: Page): Promise<Page> {
  const query = new URLSearchParams({
    offset: last.offset,
    live: 'long-poll',
    ...(last.cursor && { cursor: last.cursor }),
  })
  const path = `/runs/${encodeURIComponent(runId)}/streams/${encodeURIComponent(name)}?${query}`
  const answer = await fetch(url.replace(/\/+$/, '') + path, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]),
  })
  const text = await answer.text()
  if (answer.status !== 200 && answer.status !== 204) throw refusalOf(answer.status, text)
  return {
    messages: answer.status === 204 ? [] : (JSON.parse(text) as StreamMessage[]),
    offset: answer.headers.get('stream-next-offset') ?? last.offset,
    cursor: answer.headers.get('stream-cursor'),
    isClosed: answer.headers.get('stream-closed') === 'true',
  }
}

function refusalOf(status: number, text: string): PerdureError {
  try {
    const { code, message } = (JSON.parse(text) as { error: { code: string; message: string } }).error
    return new PerdureError({ code, status, message })
  } catch {
    return new PerdureError({ code: `http_${status}`, status, message: `The engine answered ${status}` })
  }
}

/** Waits, or rejects when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      if (signal.aborted) reject(signal.reason)
      else resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
