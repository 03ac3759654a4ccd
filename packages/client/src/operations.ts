// The operations of the HTTP interface: one method per route of the table, all built by the same code. Called by client.ts
// and the console.

import { parseTextMs, withFirstSent } from '@perdure/protocol/portable'
import { type Connection, connectionOf, exchange, type JsonCodec, type RawInput, requestOf } from './http/exchange.ts'
import { type Frame, follow, type Source, type StreamSettings } from './http/stream.ts'
import { ROUTES } from './routes.ts'
import type { CallOptions, OperationMethods, Page } from './types.ts'

/** The engine that the operations call, and how. `ClientOptions` describes each. */
interface OperationOptions {
  url?: string | readonly string[] | undefined
  apiKey?: string | undefined
  timeoutMs?: number
  fetch?: typeof globalThis.fetch
  stream?: Partial<StreamSettings>
  json?: JsonCodec
}

/** Deadline of every call except streams, beyond the time that the call has the engine wait. */
const DEFAULT_TIMEOUT_MS = 30_000
const DEFAULT_STREAM: StreamSettings = {
  silenceMs: 45_000,
  retryMs: 250,
  retryMsMax: 10_000,
  attemptsMax: 12,
}

/** The way to call an operation, by the kind of its reply. */
const CALLS = { value: 'json', pages: 'page', stream: 'live' } as const

interface Route {
  method: string
  path: string
}

/** Creates the operations alone, for the console. Opens no connection before the first call. */
export function createOperations(options: OperationOptions): OperationMethods {
  const caller = new Caller(options)
  const methods: Record<string, unknown> = {}
  const pages: Record<string, unknown> = {}
  for (const [id, text] of Object.entries(ROUTES)) {
    const [method, path, kind = 'value'] = text.split(' ') as [string, string, keyof typeof CALLS]
    const bound =
      (call: keyof Caller) =>
      (input: RawInput = {}, options: CallOptions = {}) =>
        caller[call]({ method, path }, input, options)
    methods[id] = bound(id === 'streamRun' ? 'timeline' : CALLS[kind])
    if (kind === 'pages') pages[id] = bound('items')
  }
  return { ...methods, pages } as unknown as OperationMethods
}

/** The ways to call an operation: one JSON reply, a page, all items of all pages, or a stream. */
class Caller {
  readonly #connection: Connection
  readonly #timeoutMs: number
  readonly #stream: StreamSettings

  constructor(options: OperationOptions) {
    this.#connection = connectionOf(options)
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
    this.#stream = { ...DEFAULT_STREAM, ...options.stream }
  }

  async json(route: Route, input: RawInput, call: CallOptions): Promise<unknown> {
    const { json, headers } = await this.#send(route, input, call)
    return withFirstSent(json, headers)
  }

  async page(route: Route, input: RawInput, call: CallOptions): Promise<Page<unknown>> {
    const { json, headers } = await this.#send(route, input, call)
    const nextCursor = headers.get('x-next-cursor')
    const scannedTo = headers.get('x-scanned-to')
    return {
      items: json as unknown[],
      ...(nextCursor === null ? {} : { nextCursor }),
      ...(scannedTo === null ? {} : { scannedTo }),
    }
  }

  async *items(route: Route, input: RawInput, call: CallOptions): AsyncGenerator<unknown, void, undefined> {
    for (let cursor = input.cursor; ; ) {
      const { items, nextCursor } = await this.page(route, { ...input, cursor }, call)
      yield* items
      if (nextCursor === undefined) return
      cursor = nextCursor
    }
  }

  /** A live stream: it has no position to resume from, and never ends. */
  live(route: Route, input: RawInput, call: CallOptions): AsyncGenerator<Frame, void, undefined> {
    const request = requestOf(this.#connection, route, input)
    return this.#follow({ request: () => request, isOver: async () => false }, call)
  }

  /** A run's timeline: resumed after the last seq, and over when the run has ended. */
  timeline(route: Route, input: RawInput, call: CallOptions): AsyncGenerator<Frame, void, undefined> {
    const getRun = { method: 'GET', path: ROUTES.getRun.slice(4) }
    let hasEnded = false
    const request = (seq = input.from as number | undefined) =>
      requestOf(this.#connection, route, { ...input, from: seq })
    const isOver = async (last: Frame | undefined) => {
      if (hasEnded || isTerminal(last)) return true
      // An engine that shuts down ends its streams too. If the run has ended by now, the stream may lack the last
      // frames: one more connection reads them.
      hasEnded = isTerminal(await this.json(getRun, { id: input.id }, call))
      return false
    }
    return this.#follow({ request, isOver }, call)
  }

  #follow(source: Source, { signal, onOpen }: CallOptions): AsyncGenerator<Frame, void, undefined> {
    return follow(this.#connection, source, { ...this.#stream, signal, onOpen })
  }

  #send(route: Route, input: RawInput, call: CallOptions) {
    // The deadline is for an engine that is silent. The engine may take the time that the caller has it wait.
    const waitMs = parseTextMs(String(input.wait ?? 0)) ?? 0
    return exchange(this.#connection, requestOf(this.#connection, route, input), {
      timeoutMs: call.timeoutMs ?? this.#timeoutMs + waitMs,
      waitMs,
      signal: call.signal,
      isRepeatable: call.isRepeatable,
    })
  }
}

/** Whether `run`, a run or a status frame, has a final status. */
function isTerminal(run: unknown): boolean {
  const { kind, status } = (run ?? {}) as { kind?: string; status?: string }
  return (kind === undefined || kind === 'run_status') && TERMINAL.includes(status as string)
}

const TERMINAL: readonly string[] = ['succeeded', 'failed', 'cancelled']
