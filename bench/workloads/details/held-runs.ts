// Runs that hold and wait for slots, and open buffers, made through the API. Called by lists.ts.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const APP = 'held'
const LIMITED = 'limited'
const BATCHED = 'batched'
const KEYS = 200
/** More than an engine leases at once, so that the others wait. */
const RUNS = 3000
const BUFFERS = 5000
const PER_REQUEST = 1000

/** A runner that never answers, and the events that its workflows are held back for. */
export class HeldRuns {
  readonly #server = createServer(() => {})

  async start(origin: string): Promise<void> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve))
    const { port } = this.#server.address() as AddressInfo
    const key = 'string(event.data.key)'
    await post(`${origin}/register`, {
      app: APP,
      runner: 'held-1',
      protocolVersion: 1,
      url: `http://127.0.0.1:${port}/invoke`,
      workflows: [
        { name: LIMITED, triggers: [{ event: 'held/run' }], concurrency: { limit: 5, key } },
        { name: BATCHED, triggers: [{ event: 'held/batch' }], batch: { maxSize: 100, timeout: '1h', key } },
      ],
    })
    await send(origin, 'held/run', RUNS, i => i % KEYS)
    await send(origin, 'held/batch', BUFFERS, i => i)
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

async function send(origin: string, name: string, count: number, keyOf: (i: number) => number): Promise<void> {
  for (let from = 0; from < count; from += PER_REQUEST) {
    const events = Array.from({ length: PER_REQUEST }, (_, i) => ({ name, data: { key: keyOf(from + i) } }))
    await post(`${origin}/events/batch`, events)
  }
}

async function post(url: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`POST ${url}: ${response.status} ${await response.text()}`)
  await response.arrayBuffer()
}
