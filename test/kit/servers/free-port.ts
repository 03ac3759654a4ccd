// Ports for servers that must listen on a port known beforehand, or on the same one after a restart.

import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that systems give to outgoing connections, which would take a port between two starts of a server. */
const FIRST_PORT = 20_000
const PORTS = 12_000

/** A port on which nothing listens, at any address. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS)
    const server = createServer()
    const listens = await new Promise<boolean>(resolve => {
      server.once('error', () => resolve(false)).listen(port, () => resolve(true))
    })
    if (!listens) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
