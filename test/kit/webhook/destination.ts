// A local destination of webhooks. It keeps every request, and answers according to a script.

import { onCleanup } from '../cleanup.ts'
import { answer, openServer, type RawRequest, type RawServer } from '../servers/raw-server.ts'

export type Act = (request: RawRequest) => void

/** The ways in which a destination may answer, or not answer. */
export const acts = {
  status:
    (status: number, body = 'noted', headers: Record<string, string> = {}): Act =>
    request =>
      answer(request, status, body, headers),
  hang: (() => {}) as Act,
  reset: (({ socket }) => socket.resetAndDestroy()) as Act,
  /** A status, then a body that arrives one byte at a time and never ends. */
  drip:
    (status: number): Act =>
    ({ socket }) => {
      socket.write(`HTTP/1.1 ${status} Status\r\ncontent-length: 1000\r\n\r\n`)
      const timer = setInterval(() => socket.write('x'), 20)
      socket.on('close', () => clearInterval(timer))
    },
}

export interface Destination extends RawServer {
  url: string
}

/** Plays the acts in order and repeats the last one. Without a script, answers 200. */
export async function openDestination(...script: Act[]): Promise<Destination> {
  const played = script.length === 0 ? [acts.status(200)] : script
  let n = 0
  const server = await openServer(request => played[Math.min(n++, played.length - 1)]?.(request))
  onCleanup(() => server.close())
  return Object.assign(server, { url: `${server.origin}/hook` })
}
