// Heartbeats from a separate thread. A callback that computes for long blocks the event loop, and the socket with it: the engine
// would consider the runner dead and repeat the step. The thread sends nothing while the event loop turns. See
// docs/wire-protocol.md#a-blocked-event-loop. Started by connect.ts.

import { Worker } from 'node:worker_threads'
import { BEATS_HEADER, BEATS_STEP_HEADER } from '@perdure/protocol'
import { loopTurned, showBegunSteps } from '../run/blocked-loop.ts'

export interface BeatsOptions {
  /** URLs of the engines' `/connect`, over HTTP: the runner may have a socket to each. */
  urls: readonly string[]
  apiKey: string | undefined
  /** The instances of the runner's sockets. */
  instances: readonly string[]
}

/** How often the event loop turns between two heartbeats of a socket. */
const TURNS_PER_HEARTBEAT = 4

/**
 * The thread, as CommonJS text, because a bundle of the user's runner is one file. After two missed turns of the event loop it
 * sends a heartbeat every turn.
 */
const THREAD = `
const { urls, headers, everyMs, turns, begun, stepHeader } = require('node:worker_threads').workerData
let last = -1
let missed = 0
setInterval(() => {
  const now = Atomics.load(turns, 0)
  missed = now === last ? missed + 1 : 0
  last = now
  if (missed < 2) return
  const bytes = Buffer.from(begun)
  const step = encodeURIComponent(bytes.toString('utf8', 1, 1 + bytes[0]))
  const sent = step === '' ? headers : { ...headers, [stepHeader]: step }
  for (const url of urls) {
    const { request } = require(url.startsWith('https:') ? 'node:https' : 'node:http')
    const beat = request(url, { headers: sent, timeout: everyMs * 2 }, answer => answer.resume())
    beat.on('error', () => {}).on('timeout', () => beat.destroy()).end()
  }
}, everyMs)`

export class Beats {
  readonly #options: BeatsOptions
  #thread: Worker | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: BeatsOptions) {
    this.#options = options
  }

  /** Starts the thread, once. Some platforms have no threads: there, only the socket's heartbeats count. */
  start(heartbeatMs: number): void {
    if (this.#timer) return
    const { urls, apiKey, instances } = this.#options
    const everyMs = heartbeatMs / TURNS_PER_HEARTBEAT
    const turns = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
    loopTurned(everyMs)
    this.#timer = setInterval(() => {
      Atomics.add(turns, 0, 1)
      loopTurned(everyMs)
    }, everyMs).unref()
    const key = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
    const headers = { ...key, [BEATS_HEADER]: instances.join(',') }
    try {
      this.#thread = new Worker(THREAD, {
        eval: true,
        workerData: { urls, headers, everyMs, turns, begun: showBegunSteps(), stepHeader: BEATS_STEP_HEADER },
        // The thread does not need the loaders and preloaded code of the process.
        execArgv: [],
        env: {},
        resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
        name: 'perdure heartbeats',
      })
      this.#thread.on('error', () => undefined).unref()
    } catch {
      this.#thread = undefined
    }
  }

  stop(): void {
    clearInterval(this.#timer)
    void this.#thread?.terminate()
  }
}
