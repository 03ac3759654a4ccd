// A proxy in front of a server that a test can cut at chosen moments: before something is sent, between a request and its
// answer, or for as long as the test likes. It can also drop everything without an error, like a network that loses packets.

import { connect, createServer, type Server, type Socket } from 'node:net'
import { addressInFront, listenInFront } from './in-front.ts'

/**
 * Where to cut when a client sends next: the request never arrives, its answer never arrives, or the proxy swallows everything
 * from there on.
 */
export type Cut = 'before' | 'answer' | 'swallow'

export class TcpProxy {
  #to: { host: string; port: number }
  readonly #server: Server
  readonly #pairs = new Set<[Socket, Socket]>()
  #isDown = false
  #isSwallowing = false
  /** The swallowed bytes, in order. */
  readonly #swallowed: (() => void)[] = []
  #next: { text: string; cut: Cut } | undefined
  /** How often the proxy has cut. */
  cuts = 0

  private constructor(to: { host: string; port: number }) {
    this.#to = to
    this.#server = createServer(client => this.#pair(client))
  }

  /** Opens a proxy in front of the server at the address. */
  static async open(url: string, defaultPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetOf(url, defaultPort))
    await listenInFront(proxy.#server, () => proxy.down())
    return proxy
  }

  /** The address with the proxy in place of the server. */
  urlOf(url: string): string {
    return addressInFront(this.#server, url)
  }

  /** Carries further connections to another address. */
  leadTo(url: string, defaultPort: number): void {
    this.#to = targetOf(url, defaultPort)
  }

  /** Cuts the connection on which the text is sent next. */
  cutAt(text: string, cut: Cut): void {
    this.#next = { text, cut }
  }

  /** Cuts every connection and refuses new ones. */
  down(): void {
    this.#isDown = true
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy()
  }

  up(): void {
    this.#isDown = false
  }

  /** Swallows everything in both directions; neither side sees an error. */
  swallow(): void {
    this.#isSwallowing = true
  }

  /** Lets everything through again. The swallowed bytes arrive too, like packets that a network repeats. */
  release(): void {
    this.#isSwallowing = false
    for (const arrive of this.#swallowed.splice(0)) arrive()
  }

  /** Resolves at once, or when the proxy lets traffic through again. */
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
    // The server has done its work when it answers, so the proxy cuts the connection then.
    server.on('data', chunk => {
      if (isMuted) end()
      else this.#carry(() => client.write(chunk))
    })
  }
}

function targetOf(url: string, defaultPort: number): { host: string; port: number } {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port || defaultPort) }
}
