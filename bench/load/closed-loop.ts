// The load: a closed loop that keeps a fixed number of runs in flight. A run is in flight from its POST until the
// runner reports that it answered the run's last invoke, or parked the run. Listening to the runner costs the engine
// nothing. At the end, verify.ts checks through the API what the engine stored.

import { nowUs } from '../measure/profile.ts'
import type { Runner } from '../rig/runner.ts'
import { BENCH_APP, eventData, type Shape } from '../rig/workflows.ts'
import { EventPoster } from './event-poster.ts'

/** An engine that is full answers 503; the run is posted again after this long. */
const REFUSED_PAUSE_MS = 20
/** One of this many runs is remembered by its id, to be checked through the API. */
const SAMPLE_EVERY = 97
const PROBLEMS_MAX = 5

interface LoopOptions {
  /** Address of the engine, or of the relay in its place. */
  origin: string | readonly string[]
  runner: Runner
  shape: Shape
  inFlight: number
  /** The runner's report with which a run leaves the loop. */
  until?: 'finished' | 'parked'
  /** Most runs to start; without it the loop continues until `stop`. */
  runsMax?: number
  /** Wake time of the sleeping runs. */
  untilMs?: number
}

export interface Window {
  runs: number
  seconds: number
  /** Times from the POST to the runner's last answer, of each run that left the loop in the window. */
  latenciesMs: number[]
  fromUs: number
  toUs: number
}

/** Numbers runs across all loops of this process, so that a late run is never taken for another run. */
let lastNumber = 0

export class ClosedLoop {
  readonly #options: LoopOptions
  readonly #poster: EventPoster
  readonly #startedAt = new Map<number, number>()
  readonly #latenciesMs: number[] = []
  /** A run may finish before its 202 arrives: the loop is empty only when both have come for every run. */
  #unanswered = 0
  #stopping = false
  #whenEmpty: (() => void) | undefined
  /** Runs that the engine accepted with 202. */
  accepted = 0
  /** Number of 503 answers. */
  refused = 0
  /** Run ids of a sample, by the number of the run. */
  readonly samples = new Map<number, string>()
  readonly problems: string[] = []

  constructor(options: LoopOptions) {
    this.#options = options
    this.#poster = new EventPoster(options.origin)
    options.runner.onLeft(left => this.#left(left[options.until ?? 'finished']))
    for (let i = 0; i < options.inFlight; i++) this.#next()
  }

  get left(): number {
    return this.#latenciesMs.length
  }

  /** Lets the loop run for this long and returns what happened in that time. */
  async measure(seconds: number): Promise<Window> {
    const first = this.left
    const fromUs = nowUs()
    await new Promise(resolve => setTimeout(resolve, seconds * 1000))
    return this.#window(first, fromUs)
  }

  /** Figures from the start until the loop is empty: for a loop with `runsMax`. */
  async measureAll(timeoutMs: number): Promise<Window> {
    const fromUs = nowUs()
    await this.#empty(timeoutMs)
    return this.#window(0, fromUs)
  }

  /** Starts no more runs and waits for those in flight. Runs that do not finish are reported as a problem. */
  async stop(timeoutMs = 30_000): Promise<void> {
    this.#stopping = true
    await this.#empty(timeoutMs)
    await this.#poster.close()
    this.#options.runner.onLeft(() => {})
  }

  #window(first: number, fromUs: number): Window {
    const toUs = nowUs()
    const latenciesMs = this.#latenciesMs.slice(first)
    return { runs: latenciesMs.length, seconds: (toUs - fromUs) / 1e6, latenciesMs, fromUs, toUs }
  }

  #next(): void {
    const { runsMax = Number.POSITIVE_INFINITY } = this.#options
    if (this.#stopping || this.#startedAt.size + this.left >= runsMax) return
    const n = ++lastNumber
    this.#startedAt.set(n, performance.now())
    this.#post(n)
  }

  #post(n: number): void {
    const { shape, untilMs } = this.#options
    const data = untilMs === undefined ? eventData(shape, n) : `{"n":${n},"untilMs":${untilMs}}`
    const body = `{"name":"${shape.name}","app":"${BENCH_APP}","data":${data}}`
    const sampled = n % SAMPLE_EVERY === 0
    this.#unanswered++
    this.#poster.post(body, sampled, (status, text) => {
      this.#unanswered--
      if (status === 202) {
        this.accepted++
        if (sampled) this.samples.set(n, (JSON.parse(text) as { runId: string }).runId)
      } else if (status === 503) {
        this.refused++
        setTimeout(() => this.#post(n), REFUSED_PAUSE_MS)
      } else this.#lost(n, `POST /events: ${status} ${text}`)
      this.#tellIfEmpty()
    })
  }

  #lost(n: number, problem: string): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push(problem)
    this.#startedAt.delete(n)
  }

  #left(numbers: readonly number[]): void {
    const now = performance.now()
    for (const n of numbers) {
      const startedAt = this.#startedAt.get(n)
      // A repeat of a last pass, or a run of another loop: the runner counts it.
      if (startedAt === undefined) continue
      this.#startedAt.delete(n)
      this.#latenciesMs.push(now - startedAt)
      this.#next()
    }
    this.#tellIfEmpty()
  }

  get #isEmpty(): boolean {
    return this.#startedAt.size === 0 && this.#unanswered === 0
  }

  #tellIfEmpty(): void {
    if (this.#isEmpty) this.#whenEmpty?.()
  }

  async #empty(timeoutMs: number): Promise<void> {
    if (this.#isEmpty) return
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>(resolve => {
      this.#whenEmpty = resolve
      timer = setTimeout(resolve, timeoutMs)
    })
    clearTimeout(timer)
    this.#whenEmpty = undefined
    const missing = this.#startedAt.size
    if (missing > 0) this.problems.push(`${missing} runs did not come to their end within ${timeoutMs} ms`)
  }
}
