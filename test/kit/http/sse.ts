// A reader of server-sent events. It keeps the frames until the stream ends, a condition holds or the connection is
// dropped.

import { PATIENCE_MS } from '../until.ts'

export interface SseMessage {
  id?: string
  event?: string
  data: Record<string, unknown>
  /** The lines of the message as received. */
  raw: string
}

export interface SseOptions {
  headers?: Record<string, string>
  /** Called when the server has answered. Everything after that is live. */
  onOpen?: () => void
  /** Drops the connection as soon as this function returns true. `other` holds the `retry:` lines and comments. */
  stopWhen?: (messages: readonly SseMessage[], other: readonly string[]) => boolean
  deadlineMs?: number
}

export interface SseResult {
  status: number
  contentType: string | null
  messages: SseMessage[]
  /** `retry:` lines and comments. */
  other: string[]
  /** Whether the server ended the stream. False: the reader dropped the connection. */
  ended: boolean
}

export async function readSse(url: string, options: SseOptions = {}): Promise<SseResult> {
  const { onOpen = () => {}, stopWhen = () => false, deadlineMs = PATIENCE_MS } = options
  const drop = new AbortController()
  const timer = setTimeout(() => drop.abort(new Error(`the stream did not end within ${deadlineMs} ms`)), deadlineMs)
  const result: SseResult = { status: 0, contentType: null, messages: [], other: [], ended: false }
  try {
    const response = await fetch(url, { headers: options.headers ?? {}, signal: drop.signal })
    result.status = response.status
    result.contentType = response.headers.get('content-type')
    onOpen()
    let buffer = ''
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      buffer += Buffer.from(chunk).toString('utf8')
      const blocks = buffer.split('\n\n')
      buffer = blocks.pop() as string
      for (const block of blocks) {
        take(result, block)
        if (stopWhen(result.messages, result.other)) return result
      }
    }
    result.ended = true
    return result
  } finally {
    clearTimeout(timer)
    drop.abort()
  }
}

function take(result: SseResult, raw: string): void {
  const fields = new Map<string, string>()
  for (const line of raw.split('\n')) {
    const colon = line.indexOf(':')
    fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''))
  }
  const data = fields.get('data')
  if (data === undefined) {
    result.other.push(raw)
    return
  }
  const message: SseMessage = { data: JSON.parse(data), raw }
  const [id, event] = [fields.get('id'), fields.get('event')]
  if (id !== undefined) message.id = id
  if (event !== undefined) message.event = event
  result.messages.push(message)
}
