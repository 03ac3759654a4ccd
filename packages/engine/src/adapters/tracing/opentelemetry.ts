// Spans through the OpenTelemetry API. The operator registers an SDK before the engine starts (`NODE_OPTIONS=--require`).
// Made by compose.

import {
  type Context,
  type Span as OtelSpan,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import { ENGINE_VERSION } from '../../base/version.ts'
import { type Traceparent, traceParts } from '../../domain/text/traceparent.ts'
import type { Span, SpanAttributes, SpanName, SpanOptions, Tracing } from '../../ports/tracing.ts'

const KINDS = { client: SpanKind.CLIENT, producer: SpanKind.PRODUCER, internal: SpanKind.INTERNAL }

/** Tracing with the SDK of this process; undefined when it has none. */
export function openTelemetry(): Tracing | undefined {
  const provider = trace.getTracerProvider()
  return isRegistered(provider) ? new OpenTelemetry(provider) : undefined
}

/** Without an SDK the provider is a proxy that delegates to one that does nothing. */
function isRegistered(provider: TracerProvider): boolean {
  if (!(provider instanceof ProxyTracerProvider)) return true
  return provider.getDelegate() !== new ProxyTracerProvider().getDelegate()
}

class OpenTelemetry implements Tracing {
  readonly #tracer: Tracer

  constructor(provider: TracerProvider) {
    this.#tracer = provider.getTracer('perdure', ENGINE_VERSION)
  }

  start(name: SpanName, { parent, kind, attributes, startedAt }: SpanOptions): Span {
    const options = { kind: KINDS[kind], attributes, startTime: new Date(startedAt) }
    return new TracedSpan(this.#tracer.startSpan(name, options, contextOf(parent)))
  }
}

class TracedSpan implements Span {
  readonly #span: OtelSpan
  readonly traceparent: Traceparent

  constructor(span: OtelSpan) {
    const { traceId, spanId, traceFlags } = span.spanContext()
    this.#span = span
    this.traceparent = `00-${traceId}-${spanId}-0${traceFlags & 1}`
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(attributes)
  }

  fail(type: string): void {
    this.#span.setAttribute('error.type', type)
    this.#span.setStatus({ code: SpanStatusCode.ERROR })
  }

  end(at: number): void {
    this.#span.end(new Date(at))
  }
}

/** The given parent is the only one: the active context of the caller is not inherited. */
function contextOf(parent: Traceparent | undefined): Context {
  if (parent === undefined) return ROOT_CONTEXT
  const { flags: traceFlags, ...ids } = traceParts(parent)
  return trace.setSpanContext(ROOT_CONTEXT, { ...ids, traceFlags, isRemote: true })
}
