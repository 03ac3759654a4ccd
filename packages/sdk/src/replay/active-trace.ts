// Makes the engine's span the active span of OpenTelemetry while a pass runs, so that spans of the handler and its steps
// are children of the engine's span. Called by invoke.ts.
//
// The SDK does not depend on the OpenTelemetry API package. Every copy of that package, and this file, finds the registered OpenTelemetry
// SDK under one global symbol. Bundlers then have nothing to resolve, and in a process without
// OpenTelemetry this file does nothing.

import type { Context, ContextManager, Span, SpanContext } from '@opentelemetry/api'

/** Global symbol under which all copies of version 1 of the API find the registered OpenTelemetry SDK. */
const OTEL_API_KEY = Symbol.for('opentelemetry.js.api.1')
/** Context key of the active span, the same in all copies of the API. */
const ACTIVE_SPAN_KEY = Symbol.for('OpenTelemetry Context Key SPAN')

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/** Calls `fn` with the engine's span active, including all code that `fn` awaits. Without a span it only calls `fn`. */
export function withinTrace<Result>(traceparent: string | undefined, fn: () => Result): Result {
  const globals = globalThis as { [OTEL_API_KEY]?: { context?: ContextManager } }
  const contexts = globals[OTEL_API_KEY]?.context
  const parts = contexts && traceparent !== undefined ? TRACEPARENT.exec(traceparent) : null
  if (!contexts || !parts) return fn()
  const [, traceId = '', spanId = '', flags = ''] = parts
  const span = engineSpan({ traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true })
  const context: Context = contexts.active().setValue(ACTIVE_SPAN_KEY, span)
  return contexts.with(context, fn)
}

/** The engine's span as a parent of other spans. It records nothing: the engine records it. */
function engineSpan(context: SpanContext): Span {
  const unchanged = () => span
  const span: Span = {
    spanContext: () => context,
    isRecording: () => false,
    setAttribute: unchanged,
    setAttributes: unchanged,
    addEvent: unchanged,
    addLink: unchanged,
    addLinks: unchanged,
    setStatus: unchanged,
    updateName: unchanged,
    end: () => undefined,
    recordException: () => undefined,
  }
  return span
}
