// Servers of the bench process: runners of a few lines.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Reply = (status: number, body: string) => void

/** Opens a server on this machine. Without a reply a request hangs. */
export async function openServer(
  take: (text: string, reply: Reply) => void,
): Promise<{ origin: string; close(): void }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const headers = { 'content-type': 'application/json' }
      take(Buffer.concat(chunks).toString(), (status, body) => response.writeHead(status, headers).end(body))
    })
  })
  Object.assign(server, { requestTimeout: 0, keepAliveTimeout: 0 })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
