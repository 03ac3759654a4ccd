// Spans through the OpenTelemetry API. The operator registers an SDK before the engine starts (`NODE_OPTIONS=--require`).
// Made by compose; `perdure doctor` asks for an SDK that is out of reach.

import {
  type Context,
  type Span as OtelSpan,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import { ENGINE_VERSION } from '../../base/version.ts'
import { type Traceparent, traceParts } from '../../domain/text/traceparent.ts'
import type { Span, Tracing } from '../../ports/tracing.ts'

const KINDS = { client: SpanKind.CLIENT, producer: SpanKind.PRODUCER, internal: SpanKind.INTERNAL }

/** Tracing with the SDK of this process; undefined when it has none. */
export function openTelemetry(): Tracing | undefined {
  const provider = trace.getTracerProvider()
  if (!isRegistered(provider)) return undefined
  const tracer = provider.getTracer('perdure', ENGINE_VERSION)
  return {
    start(name, { parent, kind, attributes, startedAt }) {
      const options = { kind: KINDS[kind], attributes, startTime: new Date(startedAt) }
      return tracedSpan(tracer.startSpan(name, options, contextOf(parent)))
    },
  }
}

/** Global symbol under which every copy of version 1 of the API finds the registered SDK. */
const API_KEY = Symbol.for('opentelemetry.js.api.1')

/**
 * The version of the API under which an SDK is registered in this process, if the engine's copy of the API does not find
 * that SDK: a copy ignores an SDK that was registered through an older one.
 */
export function unreachableSdk(): string | undefined {
  const registered = (globalThis as { [API_KEY]?: { version: string; trace?: unknown } })[API_KEY]
  if (registered?.trace === undefined || openTelemetry() !== undefined) return undefined
  return registered.version
}

/** Without an SDK the provider is a proxy that delegates to one that does nothing. */
function isRegistered(provider: TracerProvider): boolean {
  if (!(provider instanceof ProxyTracerProvider)) return true
  return provider.getDelegate() !== new ProxyTracerProvider().getDelegate()
}

/** The span of the port for one of the API. */
function tracedSpan(span: OtelSpan): Span {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return {
    traceparent: `00-${traceId}-${spanId}-0${traceFlags & 1}`,
    set: attributes => void span.setAttributes(attributes),
    fail: type => void span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR }),
    end: at => span.end(new Date(at)),
  }
}

/** The given parent is the only one: the active context of the caller is not inherited. */
function contextOf(parent: Traceparent | undefined): Context {
  if (parent === undefined) return ROOT_CONTEXT
  const { flags: traceFlags, ...ids } = traceParts(parent)
  return trace.setSpanContext(ROOT_CONTEXT, { ...ids, traceFlags, isRemote: true })
}
