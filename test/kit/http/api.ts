// A client of the public HTTP interface: bare requests, and the reads and waits that most scenarios need.

import type { EventRecord, Run, RunLogLine, RunStatus, RunSummary, StepRecord } from '@perdure/protocol'
import { unique } from '../temp.ts'
import { gate, PATIENCE_MS, until } from '../until.ts'
import { readSse, type SseOptions, type SseResult } from './sse.ts'

export interface Answer {
  status: number
  headers: Headers
  text: string
  /** The parsed body; undefined when it is not JSON. */
  json: unknown
  /** `error.code` of an error body. */
  code: string | undefined
}

export interface Accepted {
  eventId: string
  runId: string
  woke: number
  triggered: { workflow: string; app: string; runId: string }[]
}

const TERMINAL: readonly RunStatus[] = ['succeeded', 'failed', 'cancelled']

export class Api {
  readonly #base: () => string
  readonly #key: string | undefined

  constructor(base: () => string, key?: string) {
    this.#base = base
    this.#key = key
  }

  get base(): string {
    return this.#base()
  }

  /** The same engine, with an API key. */
  as(key: string): Api {
    return new Api(this.#base, key)
  }

  async request(
    method: string,
    path: string,
    options: {
      body?: string | Uint8Array
      headers?: Record<string, string>
      /** Cancels the body of an event stream that was answered with 200, instead of reading it to its end. */
      headOnly?: boolean
    } = {},
  ): Promise<Answer> {
    const { body, headers = {}, headOnly = false } = options
    const response = await fetch(this.base + path, {
      method,
      headers: { ...this.authorization, ...headers },
      ...(body === undefined ? {} : { body: body }),
    })
    const isLeft = headOnly && response.status === 200
    if (isLeft) await response.body?.cancel()
    const text = isLeft ? '' : await response.text()
    const json = parse(text)
    const code = (json as { error?: { code?: string } } | undefined)?.error?.code
    return { status: response.status, headers: response.headers, text, json, code }
  }

  get(path: string): Promise<Answer> {
    return this.request('GET', path)
  }

  post(path: string, body?: unknown): Promise<Answer> {
    if (body === undefined) return this.request('POST', path)
    return this.postText(path, JSON.stringify(body))
  }

  /** Posts JSON text byte for byte. */
  postText(path: string, body: string | Uint8Array): Promise<Answer> {
    return this.request('POST', path, { body, headers: { 'content-type': 'application/json' } })
  }

  put(path: string, body: unknown): Promise<Answer> {
    const headers = { 'content-type': 'application/json' }
    return this.request('PUT', path, { body: typeof body === 'string' ? body : JSON.stringify(body), headers })
  }

  patch(path: string, body: unknown): Promise<Answer> {
    const headers = { 'content-type': 'application/json' }
    return this.request('PATCH', path, { body: JSON.stringify(body), headers })
  }

  /** Registers one workflow, `w`, of a runner that is not there. The answer may be a refusal. */
  offer(workflow: object): Promise<Answer> {
    const workflows = [{ name: 'w', ...workflow }]
    return this.post('/register', { app: unique('app'), url: 'http://127.0.0.1:9/', workflows })
  }

  /** Every page of a list. */
  async pages<T>(path: string): Promise<T[][]> {
    const pages: T[][] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const at: string = cursor && `${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`
      const { json, headers } = await this.get(path + at)
      pages.push(json as T[])
      cursor = headers.get('x-next-cursor')
    }
    return pages
  }

  /** Posts an event. Throws when it is not accepted. */
  async send(event: Record<string, unknown>): Promise<Accepted> {
    const { status, json, text } = await this.post('/events', event)
    if (status !== 202) throw new Error(`the event was refused: ${status} ${text}`)
    return json as Accepted
  }

  run(id: string): Promise<Run> {
    return this.#ok<Run>(`/runs/${id}`)
  }

  steps(runId: string): Promise<StepRecord[]> {
    return this.#ok<StepRecord[]>(`/runs/${runId}/steps`)
  }

  async step(runId: string, name: string): Promise<StepRecord> {
    const step = (await this.steps(runId)).find(step => step.name === name)
    if (!step) throw new Error(`run ${runId} has no step ${name}`)
    return step
  }

  logs(runId: string, query = ''): Promise<RunLogLine[]> {
    return this.#ok<RunLogLine[]>(`/runs/${runId}/logs${query}`)
  }

  event(id: string): Promise<EventRecord> {
    return this.#ok<EventRecord>(`/events/${id}`)
  }

  runs(query = ''): Promise<RunSummary[]> {
    return this.#ok<RunSummary[]>(`/runs${query}`)
  }

  /** Resolves with the runs that a query finds once there are that many. */
  runsReach(query: string, count: number): Promise<RunSummary[]> {
    const look = async () => {
      const runs = await this.runs(query)
      return runs.length >= count && runs
    }
    return until(look, { what: `${count} runs of ${query}` })
  }

  /** Resolves with the run once it has the status. Throws at once when the run has ended in another status. */
  async reaches(runId: string, status: RunStatus, deadlineMs = PATIENCE_MS): Promise<Run> {
    const run = await until(
      async () => {
        const run = await this.run(runId)
        return (run.status === status || TERMINAL.includes(run.status)) && run
      },
      { what: `run ${runId} ${status}`, deadlineMs },
    )
    if (run.status !== status) throw new Error(`run ${runId} is not ${status}: ${JSON.stringify(run)}`)
    return run
  }

  succeeded(runId: string): Promise<Run> {
    return this.reaches(runId, 'succeeded')
  }

  failed(runId: string): Promise<Run> {
    return this.reaches(runId, 'failed')
  }

  stream(runId: string, options: SseOptions & { query?: string } = {}): Promise<SseResult> {
    return this.#sse(`/runs/${runId}/stream${options.query ?? ''}`, options)
  }

  /**
   * Follows a stream that has no end. Resolves once the stream is open; `over` resolves with everything that came until the
   * connection was dropped.
   */
  async follow(path: string, options: SseOptions = {}): Promise<{ over: Promise<SseResult> }> {
    const opened = gate()
    const over = this.#sse(path, { ...options, onOpen: opened.open })
    await Promise.race([opened.opened, over])
    return { over }
  }

  #sse(path: string, options: SseOptions): Promise<SseResult> {
    return readSse(this.base + path, {
      ...options,
      headers: { ...this.authorization, ...options.headers },
    })
  }

  /** The header with the API key, if the client has one. */
  get authorization(): Record<string, string> {
    return this.#key === undefined ? {} : { authorization: `Bearer ${this.#key}` }
  }

  async #ok<T>(path: string): Promise<T> {
    const answer = await this.get(path)
    if (answer.status !== 200) throw new Error(`GET ${path} answered ${answer.status} ${answer.text}`)
    return answer.json as T
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
