// An HTTP proxy in front of a runner, such as an ingress or a firewall. It passes requests on, or answers in the runner's
// place.

import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onCleanup } from '../cleanup.ts'

interface OwnAnswer {
  status: number
  body?: string
  headers?: Record<string, string>
}

export class Gateway {
  /** The port of the runner behind it, on this machine. */
  port = 0
  /** The answer in the runner's place, until it is removed. */
  answer: OwnAnswer | undefined
  /** How often the proxy gave its own answer. */
  ownAnswers = 0
  readonly url: string

  private constructor(url: string) {
    this.url = url
  }

  static async open(path = '/invoke'): Promise<Gateway> {
    const server = createServer((incoming, response) => gateway.#take(incoming, response)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const gateway = new Gateway(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)
    onCleanup(() => {
      server.closeAllConnections()
      server.close()
    })
    return gateway
  }

  #take(incoming: IncomingMessage, response: ServerResponse): void {
    if (this.answer) {
      this.ownAnswers++
      incoming.resume()
      response.writeHead(this.answer.status, this.answer.headers).end(this.answer.body)
      return
    }
    const { method, url, headers } = incoming
    const passed = request({ host: '127.0.0.1', port: this.port, method, path: url, headers }, answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    passed.on('error', () => response.destroy())
    incoming.pipe(passed)
  }
}
