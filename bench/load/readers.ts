// Streams that are open and read, but whose content is ignored: plain sockets of this process.

import { connect, type Socket } from 'node:net'
import { keyOf } from './api.ts'

/** Maximum number of sockets that are opened at the same time. */
const OPENING = 100

/** Opens one stream for each request, given as path and namespace. */
export async function openReaders(origin: string, requests: { path: string; namespace?: string }[]): Promise<Socket[]> {
  const sockets: Socket[] = []
  while (sockets.length < requests.length) {
    const next = requests.slice(sockets.length, sockets.length + OPENING)
    sockets.push(...(await Promise.all(next.map(({ path, namespace }) => openReader(origin, path, namespace)))))
  }
  return sockets
}

export function closeReaders(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy()
}

/** Resolves when the stream has begun. */
function openReader(origin: string, path: string, namespace: string | undefined): Promise<Socket> {
  const { hostname, port } = new URL(origin)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    socket.on('error', reject)
    socket.once('data', head => {
      if (!String(head).startsWith('HTTP/1.1 200')) reject(new Error(String(head)))
      socket.resume()
      resolve(socket)
    })
    const authorization = namespace === undefined ? '' : `authorization: Bearer ${keyOf(namespace)}\r\n`
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\n${authorization}\r\n`)
  })
}
