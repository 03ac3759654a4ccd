// Somebody else's server: takes webhooks, answers 200, and hands them over in the order they came.

import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Message {
  headers: IncomingHttpHeaders
  /** As it came, to the byte: signatures are over this. */
  body: string
}

export interface Sink {
  readonly url: string
  /** The next message, waiting for it if need be. */
  next(): Promise<Message>
  close(): void
}

export async function openSink(): Promise<Sink> {
  const messages: Message[] = []
  const waiting: ((message: Message) => void)[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    response.end()
    const message = { headers: request.headers, body }
    const hand = waiting.shift()
    if (hand) hand(message)
    else messages.push(message)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    next() {
      const message = messages.shift()
      return message ? Promise.resolve(message) : new Promise(resolve => waiting.push(resolve))
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
