// A server that receives webhooks, answers 200, and returns them in the order of their arrival.

import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Message {
  headers: IncomingHttpHeaders
  /** The raw body, which the signature covers. */
  body: string
}

export interface Sink {
  readonly url: string
  /** Resolves with the next message. */
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
    const resolve = waiting.shift()
    if (resolve) resolve(message)
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
