// The other side in the tests of the HTTP transport and the sender: a server that reads HTTP requests from bare sockets,
// so that a script may answer well, badly or not at all.

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

export interface RawRequest {
  method: string
  path: string
  headers: Record<string, string>
  body: string
  /** The number of its connection, from 1. */
  connection: number
  socket: Socket
}

export type Script = (request: RawRequest) => void

export interface RawServer {
  origin: string
  port: number
  /** Every request read so far. */
  requests: RawRequest[]
  /** Connections accepted so far. */
  readonly connections: number
  /** Connections open now. */
  readonly open: number
  /** Resolves when `predicate` holds; it is checked after every event of the server. */
  until(predicate: () => boolean): Promise<void>
  close(): Promise<void>
}

export async function openServer(
  script: Script,
  onConnection: (socket: Socket, connection: number) => void = () => {},
): Promise<RawServer> {
  const sockets = new Set<Socket>()
  const waiting = new Set<() => void>()
  const requests: RawRequest[] = []
  let connections = 0
  const checkAll = () => {
    for (const check of [...waiting]) check()
  }
  const server = createServer(socket => {
    const connection = ++connections
    // Without this, an answer in two writes would wait for the other side's delayed ACK.
    socket.setNoDelay(true)
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      checkAll()
    })
    readRequests(socket, head => {
      const request = { ...head, connection, socket }
      requests.push(request)
      script(request)
      checkAll()
    })
    onConnection(socket, connection)
    checkAll()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    requests,
    get connections() {
      return connections
    },
    get open() {
      return sockets.size
    },
    until: predicate =>
      new Promise(resolve => {
        const check = () => {
          if (!predicate()) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      }),
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

type Head = Omit<RawRequest, 'connection' | 'socket'>

function readRequests(socket: Socket, onRequest: (head: Head) => void): void {
  let bytes = Buffer.alloc(0)
  socket.on('data', chunk => {
    bytes = Buffer.concat([bytes, chunk])
    for (;;) {
      const end = bytes.indexOf('\r\n\r\n')
      if (end < 0) return
      const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
      const headers = Object.fromEntries(
        lines.map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
      )
      const bodyStart = end + 4
      const bodyEnd = bodyStart + Number(headers['content-length'] ?? 0)
      if (bytes.length < bodyEnd) return
      const body = bytes.subarray(bodyStart, bodyEnd).toString()
      bytes = bytes.subarray(bodyEnd)
      const [method = '', path = ''] = first.split(' ')
      onRequest({ method, path, headers, body })
    }
  })
}

/** Writes a complete, well-formed answer. */
export function answer(
  { socket }: RawRequest,
  status: number,
  body: string | Buffer = '',
  headers: Record<string, string> = {},
): void {
  const bytes = Buffer.from(body)
  const lines = Object.entries({ 'content-length': String(bytes.length), ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  socket.write(`HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n`)
  socket.write(bytes)
}

/** A port of this machine without a listener. */
export async function unusedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}
