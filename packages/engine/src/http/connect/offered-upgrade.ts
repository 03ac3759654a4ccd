// An upgrade that nobody has to take, such as to `h2c`: the request is answered as if it had not been offered (RFC 9110,
// section 7.8). Node has taken its parser off the socket by then, so both begin anew. Called by hub.ts.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const OFFER = new Set(['upgrade', 'http2-settings'])

/** Names and values of headers; beyond it node leaves out others, such as the length of the body. */
const RAW_HEADERS_MAX = 2000

/** Whether node has told all of the request's head. */
export function isWhole({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.length < RAW_HEADERS_MAX
}

/** Gives the socket back to the server, the request without its offer in front of what came behind it. */
export function withoutOffer(server: Server, request: IncomingMessage, socket: Socket, rest: Buffer): void {
  socket.unshift(Buffer.concat([headOf(request), rest]))
  server.emit('connection', socket)
}

/** Once the answers to requests that were sent before this one are out: a new parser would not know of them. */
export function afterAnswers(socket: Socket, then: () => void): void {
  const { _httpMessage: answer } = socket as { _httpMessage?: ServerResponse | null }
  if (!answer) then()
  // By then node has begun the next one.
  else answer.once('finish', () => afterAnswers(socket, then))
}

/** The head of the request as it came, but for the offer. */
function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name, value] = [rawHeaders[i] as string, rawHeaders[i + 1] as string]
    const kept = name.toLowerCase() === 'connection' ? withoutOptions(value) : value
    if (!OFFER.has(name.toLowerCase())) head += `${name}: ${kept}\r\n`
  }
  return Buffer.from(`${head}\r\n`, 'latin1')
}

function withoutOptions(connection: string): string {
  const options = connection.split(',').filter(option => !OFFER.has(option.trim().toLowerCase()))
  return options.join(',')
}
