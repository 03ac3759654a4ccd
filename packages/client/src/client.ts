// Creates the client: one method per route of the table, all built by the same code.

import { hintFor, parseDurationMs, quoteName } from '@perdure/protocol'
import { readApiKey, readEnvironment } from './environment.ts'
import { type Connection, exchange, type JsonCodec, type RawInput, requestOf } from './exchange.ts'
import { ROUTES } from './routes.ts'
import { type Frame, follow, type Source, type StreamSettings } from './stream.ts'
import type { CallOptions, Client, Page } from './types.ts'

export interface ClientOptions {
  /** Address of the engine; its path is kept as a prefix. Default: `ENGINE_URL`, else http://127.0.0.1:4777. */
  url?: string | undefined
  /** Sent as `Authorization: Bearer`. Default: `ENGINE_API_KEY`, or the content of the file in `ENGINE_API_KEY_FILE`. */
  apiKey?: string | undefined
  fetch?: typeof globalThis.fetch
  /** Deadline of every call except streams, beyond the time that the call has the engine `wait`. Default: 30 s. */
  timeoutMs?: number
  /** How streams detect dead connections and reconnect. */
  stream?: Partial<StreamSettings>
  /** Reads answers and writes bodies instead of `JSON`, for callers that keep numbers to the last digit. Streams use `JSON`. */
  json?: JsonCodec
}

export const DEFAULT_URL = 'http://127.0.0.1:4777'
const DEFAULT_TIMEOUT_MS = 30_000
const DEFAULT_STREAM: StreamSettings = {
  silenceMs: 45_000,
  retryMs: 250,
  retryMsMax: 10_000,
  attemptsMax: 12,
}

const OPTIONS: Readonly<Record<keyof Required<ClientOptions>, true>> = {
  url: true,
  apiKey: true,
  fetch: true,
  timeoutMs: true,
  stream: true,
  json: true,
}

/** The way to call an operation, by the kind of its reply. */
const CALLS = { value: 'json', pages: 'page', stream: 'live' } as const

interface Route {
  method: string
  path: string
}

/** Creates a client of one engine. Throws a TypeError for an invalid URL. Opens no connection before the first call. */
export function createClient(options: ClientOptions = {}): Client {
  refuseUnknown('createClient', options, OPTIONS)
  refuseUnknown('createClient: stream', options.stream ?? {}, DEFAULT_STREAM)
  const connection: Connection = {
    base: baseOf(options.url ?? readEnvironment('ENGINE_URL') ?? DEFAULT_URL),
    apiKey: options.apiKey ?? readApiKey(),
    fetch: options.fetch ?? globalThis.fetch,
    isOwnFetch: options.fetch !== undefined,
    json: options.json ?? JSON,
  }
  const caller = new Caller(connection, options)
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
  return { ...methods, pages } as unknown as Client
}

/** The ways to call an operation: one JSON reply, a page, all items of all pages, or a stream. */
class Caller {
  readonly #connection: Connection
  readonly #options: ClientOptions

  constructor(connection: Connection, options: ClientOptions) {
    this.#connection = connection
    this.#options = options
  }

  async json(route: Route, input: RawInput, call: CallOptions): Promise<unknown> {
    return (await this.#send(route, input, call)).json
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
    return follow(this.#connection, source, { ...DEFAULT_STREAM, ...this.#options.stream, signal, onOpen })
  }

  #send(route: Route, input: RawInput, call: CallOptions) {
    // The deadline is for an engine that is silent. The engine may take the time that the caller has it wait.
    const waitMs = parseDurationMs((input.wait as number | string | undefined) ?? 0) ?? 0
    return exchange(this.#connection, requestOf(this.#connection, route, input), {
      timeoutMs: call.timeoutMs ?? (this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS) + waitMs,
      signal: call.signal,
    })
  }
}

/** Whether `run`, a run or a status frame, has a final status. */
function isTerminal(run: unknown): boolean {
  const { kind, status } = (run ?? {}) as { kind?: string; status?: string }
  return (kind === undefined || kind === 'run_status') && TERMINAL.includes(status as string)
}

const TERMINAL: readonly string[] = ['succeeded', 'failed', 'cancelled']

function refuseUnknown(what: string, options: object, known: object): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, name)) continue
    throw new TypeError(`${what} has no option ${quoteName(name)}${hintFor(name, Object.keys(known))}`)
  }
}

function baseOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !/^https?:$/.test(parsed.protocol)) throw new TypeError(`"${url}" is not an http(s) URL`)
  return parsed.origin + parsed.pathname.replace(/\/+$/, '')
}
