// The trace of a pass, made the active one of OpenTelemetry where the process has it, so that the spans of a handler
// and its steps are below the engine's. Called by invoke.ts.
//
// The API package is neither imported nor depended on: every copy of it finds what an SDK has registered under one
// global symbol, and so does this. Bundlers then have nothing to resolve, and without an SDK nothing happens.

import type { Context, ContextManager, Span, SpanContext } from '@opentelemetry/api'

/** Where all copies of version 1 of the API meet. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')
/** The key that they all keep the active span under. */
const ACTIVE_SPAN = Symbol.for('OpenTelemetry Context Key SPAN')

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/** Calls `fn` with the engine's span active, here and in all that it awaits; as it is when there is none. */
export function withinTrace<Result>(traceparent: string | undefined, fn: () => Result): Result {
  const contexts = contextManager()
  const parts = contexts && traceparent !== undefined ? TRACEPARENT.exec(traceparent) : null
  if (!contexts || !parts) return fn()
  const [, traceId = '', spanId = '', flags = ''] = parts
  const span = new EngineSpan({ traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true })
  const context: Context = contexts.active().setValue(ACTIVE_SPAN, span)
  return contexts.with(context, fn)
}

function contextManager(): ContextManager | undefined {
  const registered = (globalThis as Record<symbol, unknown>)[REGISTERED] as
    | { context?: ContextManager }
    | undefined
  return registered?.context
}

/** The engine's span, as it is seen from here: a place to hang others below, of which nothing can be said. */
class EngineSpan implements Span {
  readonly #context: SpanContext

  constructor(context: SpanContext) {
    this.#context = context
  }

  spanContext(): SpanContext {
    return this.#context
  }

  isRecording(): boolean {
    return false
  }

  setAttribute(): this {
    return this
  }

  setAttributes(): this {
    return this
  }

  addEvent(): this {
    return this
  }

  addLink(): this {
    return this
  }

  addLinks(): this {
    return this
  }

  setStatus(): this {
    return this
  }

  updateName(): this {
    return this
  }

  end(): void {}

  recordException(): void {}
}
