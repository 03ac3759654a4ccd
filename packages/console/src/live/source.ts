// One stream, opened again with growing pauses when it ends. A run's timeline goes on after its last frame; other streams
// have a gap then, which the hub announces.

import { ApiError, createClient } from '@perdure/client'
import type { LiveFrame } from './coalescer.ts'
import type { Topic } from './messages.ts'

const RETRY_MS_MIN = 250
const RETRY_MS_MAX = 10_000

export interface SourceOptions {
  url: string
  token: string | undefined
  topic: Topic
  signal: AbortSignal
  onFrame(frame: LiveFrame): void
  /** The stream is open; `isAgain` after an interruption. */
  onOpen(isAgain: boolean): void
  onLost(retryAt: number): void
  /** The engine refuses: the session ended. */
  onRefused(): void
}

/** Follows the stream until the signal. */
export async function follow({ url, token, topic, signal, ...on }: SourceOptions): Promise<void> {
  let lastSeq: number | undefined
  let retryMs = RETRY_MS_MIN
  let wasOpen = false
  const onOpen = () => {
    retryMs = RETRY_MS_MIN
    on.onOpen(wasOpen)
    wasOpen = true
  }
  while (!signal.aborted) {
    try {
      for await (const frame of framesOf({ url, token, topic, signal, onOpen }, lastSeq)) {
        if (typeof frame.seq === 'number') lastSeq = frame.seq
        on.onFrame(frame)
      }
      if (topic.startsWith('run:')) return
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiError && error.status < 500 && error.status !== 429) {
        if (error.status === 401 || error.status === 403) on.onRefused()
        return
      }
    }
    on.onLost(Date.now() + retryMs)
    await new Promise(resolve => setTimeout(resolve, retryMs))
    retryMs = Math.min(RETRY_MS_MAX, retryMs * 2)
  }
}

type Opening = Pick<SourceOptions, 'url' | 'token' | 'topic' | 'signal'> & { onOpen(): void }

/** The frames of one connection. Identical addresses would wait for each other in the browser's cache: `no-store`. */
function framesOf({ url, token, topic, signal, onOpen }: Opening, from: number | undefined) {
  const client = createClient({
    url,
    apiKey: token,
    // One connection at a time: pauses and gaps are this file's.
    stream: { attemptsMax: 0 },
    fetch: async (address, init) => {
      const response = await fetch(address, { ...init, cache: 'no-store', credentials: 'omit' })
      if (response.ok) onOpen()
      return response
    },
  })
  const open = () => {
    if (topic === 'runs') return client.streamRuns({}, { signal })
    if (topic === 'events') return client.streamEvents({}, { signal })
    return client.streamRun({ id: topic.slice('run:'.length), ...(from === undefined ? {} : { from }) }, { signal })
  }
  return open() as AsyncGenerator<LiveFrame, void, undefined>
}
