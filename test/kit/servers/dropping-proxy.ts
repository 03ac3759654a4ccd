// A proxy whose open connections die silently at a chosen moment: the bytes of one direction or both vanish, and neither side
// sees an error. Connections that are opened later work.

import { connect, createServer, type Server, type Socket } from 'node:net'
import { addressInFront, listenInFront } from './in-front.ts'

export type Direction = 'requests' | 'answers' | 'both'

interface Pair {
  sockets: [client: Socket, server: Socket]
  drops: Direction | undefined
}

export class DroppingProxy {
  readonly #server: Server
  readonly #pairs = new Set<Pair>()
  /** Number of dead connections that a client has closed. */
  replaced = 0

  private constructor(to: { host: string; port: number }) {
    this.#server = createServer(client => this.#pair(client, connect(to.port, to.host)))
  }

  static async open(url: string): Promise<DroppingProxy> {
    const { hostname, port } = new URL(url)
    const proxy = new DroppingProxy({ host: hostname, port: Number(port || 6379) })
    await listenInFront(proxy.#server, () => {
      for (const { sockets } of proxy.#pairs) for (const socket of sockets) socket.destroy()
    })
    return proxy
  }

  /** The address with the proxy in place of the server. */
  urlOf(url: string): string {
    return addressInFront(this.#server, url)
  }

  /** From now on the open connections lose these bytes. */
  drop(direction: Direction): void {
    for (const pair of this.#pairs) pair.drops = direction
  }

  #pair(client: Socket, server: Socket): void {
    const pair: Pair = { sockets: [client, server], drops: undefined }
    this.#pairs.add(pair)
    const loses = (direction: Direction) => pair.drops === 'both' || pair.drops === direction
    client.on('data', bytes => void (loses('requests') || server.write(bytes)))
    server.on('data', bytes => void (loses('answers') || client.write(bytes)))
    client.on('close', () => {
      this.#pairs.delete(pair)
      if (pair.drops) this.replaced++
      server.destroy()
    })
    server.on('close', () => client.destroy())
    for (const socket of pair.sockets) socket.on('error', () => {})
  }
}
