// The operations of the HTTP interface: one method per route of the table, all built by the same code. The streams are in
// streams.ts. Called by the client and the console.

import { parseTextMs, withFirstSent } from '@perdure/protocol/portable'
import { type Connection, connectionOf, exchange, type RawInput, requestOf } from './http/exchange.ts'
import { ROUTES } from './routes.ts'
import type { CallOptions, OperationMethods, Page } from './types.ts'

/** The engine that the operations call, and how. `ClientOptions` describes each. */
export type OperationOptions = Parameters<typeof connectionOf>[0] & { timeoutMs?: number }

/** Deadline of every call except streams, beyond the time that the call has the engine wait. */
const DEFAULT_TIMEOUT_MS = 30_000

/** The ways to call an operation, by the kind of its reply. */
const CALLS = { value: 'json', pages: 'page' } as const

/** One operation of the table. */
export interface Route {
  method: string
  path: string
}

type Bound = (input?: RawInput, options?: CallOptions) => unknown

/** Creates the operations, without the streams. Opens no connection before the first call. */
export function createOperations(options: OperationOptions): OperationMethods {
  return operationsOf(new Caller(options))
}

/** The operations by this caller. `streamOf` gives the method of a stream; without it there is none. */
export function operationsOf(caller: Caller, streamOf?: (id: string, route: Route) => Bound): OperationMethods {
  const methods: Record<string, unknown> = {}
  const pages: Record<string, unknown> = {}
  for (const [id, text] of Object.entries(ROUTES)) {
    const [method, path, kind = 'value'] = text.split(' ') as [string, string, (keyof typeof CALLS | 'stream')?]
    const route = { method, path }
    const bound =
      (call: 'json' | 'page' | 'items'): Bound =>
      (input = {}, options = {}) =>
        caller[call](route, input, options)
    methods[id] = kind === 'stream' ? streamOf?.(id, route) : bound(CALLS[kind])
    if (kind === 'pages') pages[id] = bound('items')
  }
  return { ...methods, pages } as unknown as OperationMethods
}

/** The ways to call an operation: one JSON reply, a page, or all items of all pages. */
export class Caller {
  readonly connection: Connection
  readonly #timeoutMs: number

  constructor(options: OperationOptions) {
    this.connection = connectionOf(options)
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
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

  #send(route: Route, input: RawInput, call: CallOptions) {
    // The deadline is for a silent engine. The engine may also take the time that the caller makes it wait.
    const waitMs = parseTextMs(String(input.wait ?? 0)) ?? 0
    return exchange(this.connection, requestOf(this.connection, route, input), {
      timeoutMs: call.timeoutMs ?? this.#timeoutMs + waitMs,
      waitMs,
      signal: call.signal,
      isRepeatable: call.isRepeatable,
    })
  }
}
