// The parent's side of the runner process: registers it, keeps its heartbeat, and hands on what it tells.

import type { ChildProcess } from 'node:child_process'
import { endChild, forkBench, nextMessage } from './child.ts'
import type { Over } from './options.ts'
import type { RunnerMessage, RunnerRequest } from './runner-process.ts'
import { SHAPES } from './workflows.ts'

export const BENCH_APP = 'bench'

const REGISTRATION = {
  app: BENCH_APP,
  runner: 'bench-runner',
  protocolVersion: 1,
  workflows: SHAPES.map(({ name, registration }) => ({ name, ...registration })),
}

/** Far inside the stale TTL of 90 s. */
const HEARTBEAT_MS = 20_000

export type Told = (told: { finished: readonly number[]; parked: readonly number[] }) => void

export class Runner {
  /** Where invokes go; `/echo` beside it answers the body it gets. */
  readonly origin: string
  readonly #child: ChildProcess
  #told: Told = () => {}
  #heartbeat: NodeJS.Timeout | undefined

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.origin = `http://127.0.0.1:${port}`
    child.on('message', (message: RunnerMessage) => {
      if (message.kind === 'told') this.#told(message)
    })
  }

  static async start(): Promise<Runner> {
    const child = forkBench(new URL('./runner-process.ts', import.meta.url))
    const port = await nextMessage(child, (message: RunnerMessage) =>
      message.kind === 'listening' ? message.port : undefined,
    )
    return new Runner(child, port)
  }

  get pid(): number {
    return this.#child.pid as number
  }

  /** Who hears from now on which runs finished or went to sleep. */
  onTold(told: Told): void {
    this.#told = told
  }

  /** Invokes answered so far, and how many of them were refused because a memo was wrong. */
  counted(): Promise<{ passes: number; failed: number }> {
    const counted = nextMessage(this.#child, (message: RunnerMessage) =>
      message.kind === 'counted' ? message : undefined,
    )
    this.#ask({ kind: 'count' })
    return counted
  }

  /** Makes the runner known to an engine, and keeps it known. */
  async register(engineOrigin: string, over: Over = 'http'): Promise<void> {
    if (over !== 'http') {
      await this.#connect(engineOrigin, over === 'checkpoints')
      return
    }
    await this.#register(engineOrigin)
    clearInterval(this.#heartbeat)
    // A heartbeat that meets a restarting engine is repeated soon enough.
    this.#heartbeat = setInterval(() => this.#register(engineOrigin).catch(() => {}), HEARTBEAT_MS)
  }

  unregister(): void {
    clearInterval(this.#heartbeat)
    if (this.#child.connected) this.#ask({ kind: 'disconnect' })
  }

  async stop(): Promise<void> {
    this.unregister()
    await endChild(this.#child)
  }

  async #register(engineOrigin: string): Promise<void> {
    const response = await fetch(`${engineOrigin}/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...REGISTRATION, url: `${this.origin}/invoke` }),
    })
    if (!response.ok) throw new Error(`register: ${response.status} ${await response.text()}`)
  }

  async #connect(origin: string, checkpoints: boolean): Promise<void> {
    const answered = nextMessage(this.#child, (message: RunnerMessage) =>
      message.kind === 'connected' ? message : undefined,
    )
    const url = `${origin.replace('http', 'ws')}/connect`
    this.#ask({ kind: 'connect', url, registration: REGISTRATION, checkpoints })
    const { problem } = await answered
    if (problem !== undefined) throw new Error(`connect: ${problem}`)
  }

  #ask(request: RunnerRequest): void {
    this.#child.send(request)
  }
}
