// Upgrades that the server may ignore, such as to `h2c`: the request is answered as if it had not offered one (RFC 9110, section
// 7.8). At that time node has already removed its parser from the socket, so the socket is returned to the server with the
// request in front. Called by hub.ts.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const OFFER_HEADERS = new Set(['upgrade', 'http2-settings'])

/** Names and values together. Node drops the headers beyond this, possibly including the length of the body. */
const RAW_HEADERS_MAX = 2000

/** Whether node has reported the complete head of the request. */
export function isWhole({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.length < RAW_HEADERS_MAX
}

/** Returns the socket to the server: the request without its offer, then everything after it. */
export function withoutOffer(server: Server, request: IncomingMessage, socket: Socket, rest: Buffer): void {
  socket.unshift(Buffer.concat([headOf(request), rest]))
  server.emit('connection', socket)
}

/** Calls `then` when all earlier requests of the socket are answered: a new parser would not know about them. */
export function afterAnswers(socket: Socket, then: () => void): void {
  const { _httpMessage: answer } = socket as { _httpMessage?: ServerResponse | null }
  if (!answer) then()
  // When this answer is finished, node has started the next one.
  else answer.once('finish', () => afterAnswers(socket, then))
}

/** The head of the request as received, without the offer. */
function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name, value] = [rawHeaders[i] as string, rawHeaders[i + 1] as string]
    const kept = name.toLowerCase() === 'connection' ? withoutOptions(value) : value
    if (!OFFER_HEADERS.has(name.toLowerCase())) head += `${name}: ${kept}\r\n`
  }
  return Buffer.from(`${head}\r\n`, 'latin1')
}

function withoutOptions(connection: string): string {
  const options = connection.split(',').filter(option => !OFFER_HEADERS.has(option.trim().toLowerCase()))
  return options.join(',')
}
