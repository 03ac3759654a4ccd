// One connection of `GET /stream`: opens it, and reads its messages. `channel.ts` handles retries, gaps and the choice of topics.

/** Longer than any frame: payloads, and the runner answers that contain log lines, are at most 1 MiB. */
const MESSAGE_CHARS_MAX = 16 * 1024 * 1024
/** The comment with which the engine reports that it left out frames of lists. */
const SKIPPED = ': skipped'

export interface SourceOptions {
  url: string
  token: string | undefined
  topics: readonly string[]
  signal: AbortSignal
  onOpen(): void
  /** Called when anything arrives, even a comment. */
  onHeard(): void
  onData(text: string): void
  onSkipped(): void
}

/** Why a connection ended: it was lost, or the engine refused it. */
export type End = { kind: 'lost' } | { kind: 'refused'; status: number; message: string }

/** Reads the stream until it ends. Never rejects. */
export async function readStream({ url, token, topics, signal, ...on }: SourceOptions): Promise<End> {
  try {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const request = {
      headers,
      // Identical addresses would wait for each other in the browser's cache.
      cache: 'no-store',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      signal,
    } as const
    const response = await fetch(`${url}/stream?topics=${encodeURIComponent(topics.join(','))}`, request)
    if (!response.ok || !response.body) {
      return { kind: 'refused', status: response.status, message: await response.text() }
    }
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return { kind: 'lost' }
    on.onOpen()
    await readLines(response.body, on)
  } catch {
    // An abort, a lost connection and an engine that does not answer all end the same way.
  }
  return { kind: 'lost' }
}

type Handlers = Pick<SourceOptions, 'onHeard' | 'onData' | 'onSkipped'>

async function readLines(body: ReadableStream<Uint8Array>, on: Handlers): Promise<void> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let rest = ''
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    on.onHeard()
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
    rest = lines.pop() as string
    if (rest.length > MESSAGE_CHARS_MAX) throw new Error('a message of the stream is too long')
    for (const line of lines) {
      // The engine writes each frame in one line.
      if (line.startsWith('data:')) on.onData(line.slice('data:'.length).trim())
      else if (line.startsWith(SKIPPED)) on.onSkipped()
    }
  }
}
