// A channel to a writer or reader in its own thread, so that no large commit, checkpoint or scan stalls the main event loop. The
// thread sleeps on a shared counter instead of in its event loop: a single commit is answered some 10 us sooner.

import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { Channel } from '../batches/channel.ts'
import type { BatchAnswer, Request } from '../batches/requests.ts'
import type { OpenedFiles } from './store-guard.ts'
import type { OpenOrder, ThreadMessage, ThreadOptions, ThreadOrder, ThreadRole } from './thread.ts'

/**
 * The thread's file, next to this one in the bundle. Node 20 cannot load TypeScript in a worker: when run from source, the
 * bundled file is used.
 */
const ENTRY = import.meta.url.endsWith('.ts')
  ? new URL('../../../../dist/bundle/thread.js', import.meta.url)
  : new URL('./thread.js', import.meta.url)

/**
 * The flags in NODE_OPTIONS that are needed to find packages: Yarn's Plug'n'Play keeps packages in archives, and loads its own
 * resolution with two flags.
 */
export function packageFlags(options = ''): string[] {
  if (!process.versions.pnp) return []
  const flags = options.matchAll(/(--(?:require|experimental-loader|import))[ =](?:"([^"]*)"|(\S+))/g)
  return [...flags].flatMap(([, flag = '', quoted, bare = '']) => {
    const file = quoted ?? bare
    return /\.pnp\.(cjs|loader\.mjs)$/.test(file) ? [`${flag}=${file}`] : []
  })
}

export class ThreadChannel implements Channel {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #orders: Int32Array
  readonly #exited: Promise<void>
  #gone: Error | undefined
  #waiting: { resolve(message: ThreadMessage): void; reject(error: Error): void } | undefined

  /** Starts the thread, which opens nothing yet. */
  constructor(role: ThreadRole, file: string) {
    const { port1, port2 } = new MessageChannel()
    this.#orders = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
    const workerData: ThreadOptions = { role, file, port: port2, orders: this.#orders }
    // Flags of the main thread (loaders, inspectors, a preloaded SDK whose timers would keep the thread from ending) must not
    // reach this thread, however they are set, except the flags that find packages.
    const { NODE_OPTIONS: _, ...env } = process.env
    this.#worker = new Worker(ENTRY, {
      workerData,
      transferList: [port2],
      // Node 22 warns that its built-in SQLite is experimental.
      execArgv: ['--disable-warning=ExperimentalWarning', ...packageFlags(process.env.NODE_OPTIONS)],
      env,
      name: `perdure ${role}`,
    })
    this.#port = port1
    this.#port.on('message', (message: ThreadMessage) => this.#receive(message))
    this.#worker.on('error', error => this.#lost(error))
    this.#exited = new Promise(resolve => {
      this.#worker.on('exit', () => {
        // The exit may arrive before the last message.
        const last = receiveMessageOnPort(this.#port) as { message: ThreadMessage } | undefined
        if (last) this.#receive(last.message)
        this.#lost(new Error(`the ${role} thread has ended`))
        this.#port.close()
        resolve()
      })
    })
  }

  /**
   * Resolves when the thread has opened the database, with the files that a writer has claimed. Rejects with the reason if it
   * cannot; the thread has ended then.
   */
  async open(order: OpenOrder): Promise<OpenedFiles | undefined> {
    const message = await this.#order(order)
    if (message.kind === 'opened') return message.opened
    await this.#exited
    throw new Error(message.kind === 'failed' ? message.reason : `the thread said ${message.kind}`)
  }

  async run(batch: Request[]): Promise<BatchAnswer> {
    const message = await this.#order(batch)
    if (message.kind === 'answered') return message.answer
    throw new Error(message.kind === 'failed' ? message.reason : `the thread said ${message.kind}`)
  }

  /** Resolves when the thread has closed the database and ended. A broken database is closed as it is. */
  async close(isBroken = false): Promise<void> {
    if (!this.#gone) {
      // A thread that dies before it answers is also closed.
      await this.#order(isBroken ? 'abandon' : 'close').catch(() => {})
    }
    await this.#exited
  }

  #order(order: ThreadOrder): Promise<ThreadMessage> {
    if (this.#gone) return Promise.reject(this.#gone)
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#port.postMessage(order)
      Atomics.add(this.#orders, 0, 1)
      Atomics.notify(this.#orders, 0)
    })
  }

  #receive(message: ThreadMessage): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.resolve(message)
  }

  #lost(error: Error): void {
    this.#gone ??= error
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.reject(this.#gone)
  }
}
