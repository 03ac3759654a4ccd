// Calls of a loop that are runs of one shape, and the checks afterwards: every accepted run is in the store and has succeeded,
// and a sample of the runs has the correct input, result and steps.

import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Runner } from '../rig/runner.ts'
import { BENCH_APP, eventData, expectedResult, type Shape } from '../rig/workflows.ts'
import { Api } from './api.ts'

/**
 * When a run's call ends. `accepted`: with its 202. `finished`: when the runner reports that it answered the run's last invoke;
 * listening to the runner costs the engine nothing. `stored`: with the frame `succeeded` on the run's own stream. `reply`: with
 * the result in the answer to the POST.
 */
export type Until = 'accepted' | 'finished' | 'stored' | 'reply'

/** A full engine answers 503; the run is posted again after this long. */
const REFUSED_PAUSE_MS = 20
/** A request that waits for the result holds its connection. */
const CONNECTIONS: Readonly<Record<Until, number>> = { accepted: 64, finished: 64, stored: 64, reply: 512 }
/** One in this many runs is checked through the API, and the first runs. */
const SAMPLE_EVERY = 97
const SAMPLES_MAX = 50
const SETTLE_MS = 20_000
const OPEN_STATUSES = ['queued', 'running', 'waiting', 'paused']

/** Numbers runs across all loads of this process, so that a late run is never taken for another run. */
let lastNumber = 0

interface Place {
  /** Addresses of the engines, or of the relay that replaces them. */
  origins: readonly string[]
  /** The runner's namespace. */
  namespace?: string | undefined
  runner: Runner
}

export class Runs {
  readonly shape: Shape
  readonly #until: Until
  readonly #place: Place
  readonly #api: Api
  /** Runs that the engine accepted. */
  accepted = 0
  /** Number of 503 answers. */
  refused = 0
  /** Run ids of a sample, by the number of the run. */
  readonly samples = new Map<number, string>()
  /** With `stored`, times of the intermediate steps: to the 202, and to the runner's last answer. */
  readonly acceptedMs: number[] = []
  readonly answeredMs: number[] = []

  constructor(place: Place, shape: Shape, { until = 'finished' as Until, connections = 0 } = {}) {
    this.#place = place
    this.shape = shape
    this.#until = until
    this.#api = new Api(place.origins, { namespace: place.namespace, connections: connections || CONNECTIONS[until] })
  }

  get namespace(): string | undefined {
    return this.#place.namespace
  }

  /** Starts a run and resolves with its time in ms. */
  async one(): Promise<number> {
    const n = ++lastNumber
    const [until, from] = [this.#until, performance.now()]
    const isReported = until !== 'accepted' && until !== 'reply'
    const finished = isReported ? this.#place.runner.whenFinished(n) : undefined
    const text = await this.#post(n)
    const acceptedAt = performance.now()
    this.accepted++
    if (until === 'reply') checkReply(this.shape, n, text)
    const isSampled = n % SAMPLE_EVERY === 0 || until === 'stored'
    const runId = isSampled ? (JSON.parse(text) as { runId: string }).runId : ''
    if (isSampled && until !== 'reply') this.samples.set(n, runId)
    if (until !== 'stored') return ((await finished) ?? acceptedAt) - from
    const storedAt = await this.#api.untilSucceeded(runId)
    this.acceptedMs.push(acceptedAt - from)
    this.answeredMs.push(((await finished) ?? Number.NaN) - from)
    return storedAt - from
  }

  close(): Promise<void> {
    return this.#api.close()
  }

  /** Returns the text of the answer that accepts the run. */
  async #post(n: number): Promise<string> {
    const body = `{"name":"${this.shape.name}","app":"${BENCH_APP}","data":${eventData(this.shape, n)}}`
    const path = this.#until === 'reply' ? '/events?wait=30s' : '/events'
    for (;;) {
      const { status, text } = await this.#api.call('POST', path, body)
      if (status === 202) return text
      if (status !== 503) throw new Error(`POST /events: ${status} ${text}`)
      this.refused++
      await pause(REFUSED_PAUSE_MS)
    }
  }
}

function checkReply(shape: Shape, n: number, text: string): void {
  const { run } = JSON.parse(text) as { run?: { status: string; result: unknown } }
  if (run?.status !== 'succeeded' || !isDeepStrictEqual(run.result, expectedResult(shape, n)))
    throw new Error(`run ${n} was answered with ${text}`)
}

interface StoredRun {
  id: string
  workflow: string
  status: string
  input?: { n?: number }
  result?: unknown
}

/** Compares the engine's store with what the loads saw. Each violation is one line of text. */
export async function verify(origin: string, loads: readonly Runs[]): Promise<string[]> {
  const api = new Api(origin, { namespace: loads[0]?.namespace })
  const problems = await settle(api)
  const counts = new Map<string, number>()
  for await (const { workflow, status } of storedRuns(api)) add(counts, `${workflow} ${status}`, 1)
  const expected = new Map<string, number>()
  for (const { shape, accepted } of loads) add(expected, `${shape.name} succeeded`, accepted)
  for (const key of new Set([...counts.keys(), ...expected.keys()])) {
    const [stored, accepted] = [counts.get(key) ?? 0, expected.get(key) ?? 0]
    if (stored !== accepted) problems.push(`${stored} runs are stored, ${accepted} expected: ${key}`)
  }
  for (const { shape, samples } of loads)
    for (const [n, runId] of [...samples].slice(0, SAMPLES_MAX))
      problems.push(...(await checkRun(api, { shape, n, runId })))
  await api.close()
  return problems
}

function add(counts: Map<string, number>, key: string, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count)
}

/** Waits until no run is open, because the last answers of a loop may not be stored yet. */
async function settle(api: Api): Promise<string[]> {
  for (const giveUpAt = performance.now() + SETTLE_MS; ; await pause(100)) {
    const open = await anyOpen(api)
    if (open === undefined) return []
    if (performance.now() > giveUpAt) return [`run ${open} is still open`]
  }
}

async function anyOpen(api: Api): Promise<string | undefined> {
  for (const status of OPEN_STATUSES) for await (const { id } of storedRuns(api, `&status=${status}`)) return id
  return undefined
}

/** Yields every run of the bench, page by page. */
async function* storedRuns(api: Api, filter = ''): AsyncGenerator<StoredRun> {
  let cursor: string | undefined = ''
  while (cursor !== undefined) {
    const path: string = `/runs?app=${BENCH_APP}&limit=200${filter}${cursor && `&cursor=${cursor}`}`
    const answer = await api.call('GET', path)
    if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${answer.text}`)
    yield* JSON.parse(answer.text) as StoredRun[]
    cursor = answer.cursor
  }
}

async function checkRun(api: Api, { shape, n, runId }: { shape: Shape; n: number; runId: string }): Promise<string[]> {
  const problems: string[] = []
  const run = await api.get<StoredRun>(`/runs/${runId}`)
  if (run.status !== 'succeeded') problems.push(`run ${runId} is ${run.status}`)
  if (run.input?.n !== n) problems.push(`run ${runId} has another's input`)
  if (!isDeepStrictEqual(run.result, expectedResult(shape, n)))
    problems.push(`run ${runId} has the result ${JSON.stringify(run.result)}`)
  const steps = await api.get<{ status: string }[]>(`/runs/${runId}/steps`)
  const succeeded = steps.filter(step => step.status === 'succeeded').length
  if (steps.length !== shape.steps.length || succeeded !== steps.length)
    problems.push(`run ${runId} has ${succeeded} of ${steps.length} steps succeeded, not ${shape.steps.length}`)
  return problems
}
