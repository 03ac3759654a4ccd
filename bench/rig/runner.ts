// The parent's side of the runner process: registers the runner, sends its heartbeat, and passes on its reports.

import type { ChildProcess } from 'node:child_process'
import { endChild, forkBench, nextMessage } from './child.ts'
import type { Over, RunnerKind } from './options.ts'
import type { RunnerMessage } from './reports.ts'
import type { RunnerRequest } from './runner-process.ts'
import type { SdkRunnerRequest } from './sdk-runner-process.ts'
import { BENCH_APP, SHAPES } from './workflows.ts'

const REGISTRATION = {
  app: BENCH_APP,
  runner: 'bench-runner',
  protocolVersion: 1,
  workflows: SHAPES.map(({ name, registration }) => ({ name, ...registration })),
}

/** Well within the 90 s after which a runner is stale. */
const HEARTBEAT_MS = 20_000

/** Gets the numbers of the runs that finished or parked since its last call. */
type OnLeft = (left: { finished: readonly number[]; parked: readonly number[] }) => void

export class Runner {
  /** Address of the runner's server; `/echo` answers with the body it gets. */
  readonly origin: string
  readonly #child: ChildProcess
  readonly #kind: RunnerKind
  #onLeft: OnLeft = () => {}
  #heartbeat: NodeJS.Timeout | undefined

  private constructor(kind: RunnerKind, child: ChildProcess, port: number) {
    this.#kind = kind
    this.#child = child
    this.origin = `http://127.0.0.1:${port}`
    child.on('message', (message: RunnerMessage) => {
      if (message.kind === 'left') this.#onLeft(message)
    })
  }

  static async start(kind: RunnerKind = 'bare'): Promise<Runner> {
    const file = kind === 'bare' ? './runner-process.ts' : './sdk-runner-process.ts'
    const child = forkBench(new URL(file, import.meta.url))
    const port = await nextMessage(child, (message: RunnerMessage) =>
      message.kind === 'listening' ? message.port : undefined,
    )
    return new Runner(kind, child, port)
  }

  get pid(): number {
    return this.#child.pid as number
  }

  /** Replaces the function that gets the numbers of finished and parked runs. */
  onLeft(onLeft: OnLeft): void {
    this.#onLeft = onLeft
  }

  /** Invokes answered so far, and how many of them were refused because their memo was wrong. */
  counted(): Promise<{ passes: number; failed: number }> {
    const counted = nextMessage(this.#child, (message: RunnerMessage) =>
      message.kind === 'counted' ? message : undefined,
    )
    this.#send({ kind: 'count' })
    return counted
  }

  /** Registers the runner with an engine, and sends heartbeats. */
  async register(engineOrigin: string, over: Over = 'http'): Promise<void> {
    if (this.#kind === 'sdk') {
      await this.#request({ kind: 'attach', engineUrl: engineOrigin, over })
      return
    }
    if (over !== 'http') {
      const url = `${engineOrigin.replace('http', 'ws')}/connect`
      await this.#request({ kind: 'connect', url, registration: REGISTRATION, checkpoints: over === 'checkpoints' })
      return
    }
    await this.#register(engineOrigin)
    clearInterval(this.#heartbeat)
    // A heartbeat that fails while an engine restarts is repeated in time.
    this.#heartbeat = setInterval(() => this.#register(engineOrigin).catch(() => {}), HEARTBEAT_MS)
  }

  unregister(): void {
    clearInterval(this.#heartbeat)
    if (this.#child.connected) this.#send({ kind: 'disconnect' })
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

  /** Lets the child connect; throws what kept it from it. */
  async #request(request: RunnerRequest | SdkRunnerRequest): Promise<void> {
    const answered = nextMessage(this.#child, (message: RunnerMessage) =>
      message.kind === 'connected' ? message : undefined,
    )
    this.#send(request)
    const { problem } = await answered
    if (problem !== undefined) throw new Error(`connect: ${problem}`)
  }

  #send(request: RunnerRequest | SdkRunnerRequest): void {
    this.#child.send(request)
  }
}
