// A server whose machine vanishes for its callers: it answers nothing on open connections, and no packet of a new one. The
// server is in a thread that stands still, and its queue of new connections is full.

import { once } from 'node:events'
import { connect } from 'node:net'
import { Worker } from 'node:worker_threads'
import { onCleanup } from '../cleanup.ts'
import { until } from '../until.ts'

/** Runs `answer`, the source of a request listener, until a message stops it. */
const THREAD = (answer: string) => `
const { parentPort, workerData: gate } = require('node:worker_threads')
const server = require('node:http').createServer(${answer})
parentPort.on('message', () => {
  Atomics.store(gate, 0, 1)
  Atomics.wait(gate, 1, 0)
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => parentPort.postMessage(server.address().port))`

export class VanishingHost {
  readonly port: number
  readonly #thread: Worker
  readonly #gate: Int32Array

  private constructor(thread: Worker, gate: Int32Array, port: number) {
    this.#thread = thread
    this.#gate = gate
    this.port = port
  }

  /** `answer` is the source of a request listener of node:http. */
  static async open(answer = "(_, response) => response.end('{}')"): Promise<VanishingHost> {
    const gate = new Int32Array(new SharedArrayBuffer(8))
    const thread = new Worker(THREAD(answer), { eval: true, workerData: gate })
    const [port] = (await once(thread, 'message')) as [number]
    const host = new VanishingHost(thread, gate, port)
    onCleanup(async () => {
      host.comeBack()
      await thread.terminate()
    })
    return host
  }

  async vanish(): Promise<void> {
    this.#thread.postMessage('vanish')
    await until(() => Atomics.load(this.#gate, 0) === 1, { what: 'the thread that stands still' })
    for (let i = 0; i < 2; i++) {
      const filler = connect(this.port, '127.0.0.1')
      onCleanup(() => void filler.destroy())
      await once(filler, 'connect')
    }
  }

  comeBack(): void {
    Atomics.store(this.#gate, 1, 1)
    Atomics.notify(this.#gate, 1)
  }
}
