// Ports for servers whose port must be known in advance, or stay the same after a restart.

import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the range for outgoing connections: one of them could take the port between two starts of a server. */
const FIRST_PORT = 20_000
const PORTS = 12_000

/** A port that has no listener at any address. */
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
