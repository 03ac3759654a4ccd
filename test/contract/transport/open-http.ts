// For the tests of the HTTP transport: a runner that plays a script, and a transport that calls it.

import { afterEach } from 'vitest'
import { VirtualClock } from '../../../packages/engine/src/adapters/clock/virtual.ts'
import { HttpTransport, type HttpTransportOptions } from '../../../packages/engine/src/adapters/transport/http.ts'
import type { InvokeCall, InvokeReply } from '../../../packages/engine/src/ports/transport.ts'
import { openServer, type Script } from '../../kit/servers/raw-server.ts'
import { never } from './transport-contract.ts'

export const NOW = 1_700_000_000_000
export const clock = new VirtualClock({ start: NOW })

/** Closed by {@link closesOpened} after each test, in reverse order. */
export const opened: { close(): Promise<void> }[] = []

/** Each test file calls it once. */
export function closesOpened(): void {
  afterEach(async () => {
    for (const thing of opened.splice(0).reverse()) await thing.close()
  })
}

export async function open(script: Script, options: Partial<HttpTransportOptions> = {}) {
  const server = await openServer(script)
  const transport = new HttpTransport({ clock, signingKeys: [], closeGraceMs: 200, ...options })
  opened.push(server, transport)
  const invoke = (call: Partial<InvokeCall> = {}): Promise<InvokeReply> =>
    transport.invoke({ url: `${server.origin}/`, body: '{}', timeoutMs: 5000, signal: never(), ...call })
  return { server, transport, invoke }
}

/** The time of a commit between two passes: undici needs one round of the event loop to free a connection. */
export const betweenPasses = () => new Promise(resolve => setTimeout(resolve, 1))

/** Writes raw text as the answer; '' ends the connection, null resets it. */
export const plays =
  (...parts: (string | Buffer | null)[]): Script =>
  ({ socket }) => {
    for (const part of parts) {
      if (part === null) setTimeout(() => socket.resetAndDestroy(), 20)
      else if (part === '') socket.end()
      else socket.write(part)
    }
  }

export const ok = (headers: string, body = '') => `HTTP/1.1 200 OK\r\n${headers}\r\n\r\n${body}`
