// A local destination of webhooks: keeps every request, answers what the test says.

import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onCleanup } from '../cleanup.ts'

export interface Received {
  headers: IncomingHttpHeaders
  method: string
  path: string
  raw: string
}

export interface Sink {
  url: string
  received: Received[]
}

/** `answer` gives the status of the n-th request (from 1); 200 without it. */
export async function openSink(answer: (n: number) => number = () => 200): Promise<Sink> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const { headers, method = '', url: path = '' } = request
      received.push({ headers, method, path, raw: Buffer.concat(chunks).toString('utf8') })
      response.writeHead(answer(received.length)).end('noted')
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onCleanup(() => {
    server.closeAllConnections()
    return new Promise(resolve => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received }
}
