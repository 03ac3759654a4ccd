// The parent's side of the runner process: attaches it to engines, and passes on its reports.

import type { ChildProcess } from 'node:child_process'
import { endChild, forkBench, messageOf } from './child.ts'
import type { RunnerKind } from './options.ts'
import type { Attaching, RunnerMessage, RunnerRequest } from './runner-reports.ts'

const PROGRAMS: Readonly<Record<RunnerKind, URL>> = {
  bare: new URL('./runner-process.ts', import.meta.url),
  sdk: new URL('./sdk-runner-process.ts', import.meta.url),
}

export class Runner {
  /** Address of the runner's server; `/echo` answers with the body it gets. */
  readonly origin: string
  readonly #child: ChildProcess
  /** Callers that wait for the end of a run, by its number. */
  readonly #waiting = new Map<number, (at: number) => void>()
  /** Gets the number of runs of each report of finished runs. */
  onFinished: (count: number) => void = () => {}

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.origin = `http://127.0.0.1:${port}`
    child.on('message', (message: RunnerMessage) => {
      if (message.kind !== 'finished') return
      const now = performance.now()
      for (const n of message.runs) {
        // Nobody waits when a last pass is repeated.
        this.#waiting.get(n)?.(now)
        this.#waiting.delete(n)
      }
      this.onFinished(message.runs.length)
    })
  }

  static async start(kind: RunnerKind): Promise<Runner> {
    const child = forkBench(PROGRAMS[kind])
    const { port } = await messageOf<RunnerMessage, 'listening'>(child, 'listening')
    return new Runner(child, port)
  }

  get pid(): number {
    return this.#child.pid as number
  }

  /** Returns the time (performance.now) at which the runner reports that it answered the last invoke of run `n`. */
  whenFinished(n: number): Promise<number> {
    return new Promise(resolve => this.#waiting.set(n, resolve))
  }

  /** Returns the number of invokes answered so far, and of those refused because their memo was wrong. */
  counted(): Promise<{ passes: number; failed: number }> {
    this.#send({ kind: 'count' })
    return messageOf<RunnerMessage, 'counted'>(this.#child, 'counted')
  }

  /** Registers the runner with an engine, until `detach`. */
  async attach(engineUrl: string, how: Attaching): Promise<void> {
    this.#send({ kind: 'attach', engineUrl, ...how })
    const { problem } = await messageOf<RunnerMessage, 'attached'>(this.#child, 'attached')
    if (problem !== undefined) throw new Error(`the runner was not attached: ${problem}`)
  }

  detach(): void {
    if (this.#child.connected) this.#send({ kind: 'detach' })
  }

  stop(): Promise<void> {
    // On SIGTERM an SDK runner waits for its engine, which may have stopped.
    return endChild(this.#child, 'SIGKILL')
  }

  #send(request: RunnerRequest): void {
    this.#child.send(request)
  }
}
