// A reader of event streams over a real socket, which a test may let go slow, go away or wait.

import http from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Turns the event loop until the condition holds, for 5 s at most. */
export async function eventually(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 5000
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`never held: ${condition}`)
    await nextTurn()
  }
}

export interface OpenStream {
  status: number
  headers: http.IncomingHttpHeaders
  /** All that has arrived so far. */
  text(): string
  /** Resolves when the text contains `part`. */
  saw(part: string): Promise<void>
  /** Resolves when the stream is over: true when it ended in order, false when it was cut. */
  over: Promise<boolean>
  /** Stops reading, as a slow client does, and goes on. */
  pause(): void
  resume(): void
  disconnect(): void
}

/** Opens a real event stream. */
export function openStream(
  port: number,
  path: string,
  headers: Record<string, string> = {},
): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    const request = http.get({ port, path, headers, agent: false }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', chunk => {
        text += chunk
      })
      const over = new Promise<boolean>(done => {
        response.on('error', () => done(false)).on('close', () => done(response.complete))
      })
      resolve({
        status: response.statusCode as number,
        headers: response.headers,
        text: () => text,
        saw: part => eventually(() => text.includes(part)),
        over,
        pause: () => response.pause(),
        resume: () => response.resume(),
        disconnect: () => request.destroy(),
      })
    })
    request.on('error', reject)
  })
}
