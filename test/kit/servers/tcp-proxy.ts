// A way to a server that a test can cut at chosen moments: before something is sent, between it and its answer, or for as
// long as it likes. Or it swallows all and says nothing, as a network does that has lost its way.

import type { AddressInfo } from 'node:net'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { onCleanup } from '../cleanup.ts'

/** Where to cut what a client says next: it never arrives, or its answer does not. Or from there on all is swallowed. */
export type Cut = 'before' | 'answer' | 'swallow'

export class TcpProxy {
  readonly #to: { host: string; port: number }
  readonly #server: Server
  readonly #pairs = new Set<[Socket, Socket]>()
  #isDown = false
  #isSwallowing = false
  /** What was swallowed, in its order. */
  readonly #swallowed: (() => void)[] = []
  #next: { text: string; cut: Cut } | undefined
  /** How often it has cut. */
  cuts = 0

  private constructor(to: { host: string; port: number }) {
    this.#to = to
    this.#server = createServer(client => this.#pair(client))
  }

  /** A proxy in front of the server behind the address. */
  static async open(url: string, defaultPort: number): Promise<TcpProxy> {
    const { hostname, port } = new URL(url)
    const proxy = new TcpProxy({ host: hostname, port: Number(port || defaultPort) })
    await new Promise<void>(resolve => proxy.#server.listen(0, '127.0.0.1', resolve))
    onCleanup(() => {
      proxy.down()
      proxy.#server.close()
    })
    return proxy
  }

  /** The address with the proxy in place of the server. */
  urlOf(url: string): string {
    const through = new URL(url)
    through.hostname = '127.0.0.1'
    through.port = String((this.#server.address() as AddressInfo).port)
    return through.href
  }

  /** Cuts the connection on which the text is sent next. */
  cutAt(text: string, cut: Cut): void {
    this.#next = { text, cut }
  }

  /** Every connection is gone, and no new one comes about. */
  down(): void {
    this.#isDown = true
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy()
  }

  up(): void {
    this.#isDown = false
  }

  /** From now on nothing arrives on either side, and nobody is told. */
  swallow(): void {
    this.#isSwallowing = true
  }

  /** All goes on, and what was swallowed arrives after all, as what a network repeats does. */
  release(): void {
    this.#isSwallowing = false
    for (const arrive of this.#swallowed.splice(0)) arrive()
  }

  /** At once, or when the way is found again. */
  #carry(arrive: () => void): void {
    if (this.#isSwallowing) this.#swallowed.push(arrive)
    else arrive()
  }

  #pair(client: Socket): void {
    if (this.#isDown) {
      client.destroy()
      return
    }
    const server = connect(this.#to.port, this.#to.host)
    const pair: [Socket, Socket] = [client, server]
    this.#pairs.add(pair)
    const end = () => {
      this.#pairs.delete(pair)
      for (const socket of pair) socket.destroySoon()
    }
    for (const socket of pair) socket.on('close', () => this.#carry(end)).on('error', () => {})
    let isMuted = false
    client.on('data', chunk => {
      const next = this.#next
      if (next && chunk.includes(next.text)) {
        this.#next = undefined
        this.cuts++
        if (next.cut === 'before') return end()
        if (next.cut === 'swallow') this.swallow()
        isMuted = next.cut === 'answer'
      }
      this.#carry(() => server.write(chunk))
    })
    // The server has done its work when it answers: then the way is cut.
    server.on('data', chunk => {
      if (isMuted) end()
      else this.#carry(() => client.write(chunk))
    })
  }
}
