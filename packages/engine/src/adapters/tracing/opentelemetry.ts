// Spans through the OpenTelemetry API. The operator registers an SDK before the engine starts (`NODE_OPTIONS=--require`). Made by
// compose; `perdure doctor` looks for an SDK that is out of reach. The API is loaded only where an SDK is registered: its 40
// files take 35 ms.

import type { Context, Span as OtelSpan, TracerProvider } from '@opentelemetry/api'
import { ENGINE_VERSION } from '../../base/version.ts'
import { type Traceparent, traceParts } from '../../domain/text/traceparent.ts'
import type { Span, Tracing } from '../../ports/tracing.ts'

type Api = typeof import('@opentelemetry/api')

/** Global symbol under which every copy of version 1 of the API finds the registered SDK. */
const API_KEY = Symbol.for('opentelemetry.js.api.1')

/** The entries that copies of the API have registered under the symbol. */
const registered = () => (globalThis as { [API_KEY]?: { version: string; trace?: unknown } })[API_KEY]

/** Tracing with the SDK of this process; undefined when it has none. */
export async function openTelemetry(): Promise<Tracing | undefined> {
  if (registered()?.trace === undefined) return undefined
  const api = await import('@opentelemetry/api')
  const provider = api.trace.getTracerProvider()
  if (!isRegistered(api, provider)) return undefined
  const tracer = provider.getTracer('perdure', ENGINE_VERSION)
  const { CLIENT: client, PRODUCER: producer, INTERNAL: internal } = api.SpanKind
  const kinds = { client, producer, internal }
  return {
    start(name, { parent, kind, attributes, startedAt }) {
      const options = { kind: kinds[kind], attributes, startTime: new Date(startedAt) }
      return tracedSpan(api, tracer.startSpan(name, options, contextOf(api, parent)))
    },
  }
}

/**
 * The version of the API under which an SDK is registered in this process, if the engine's copy of the API does not find that
 * SDK: a copy ignores an SDK registered through an older one.
 */
export async function unreachableSdk(): Promise<string | undefined> {
  const sdk = registered()
  return sdk?.trace === undefined || (await openTelemetry()) !== undefined ? undefined : sdk.version
}

/** Without an SDK the provider is a proxy that delegates to one that does nothing. */
function isRegistered({ ProxyTracerProvider }: Api, provider: TracerProvider): boolean {
  if (!(provider instanceof ProxyTracerProvider)) return true
  return provider.getDelegate() !== new ProxyTracerProvider().getDelegate()
}

/** The span of the port for one of the API. */
function tracedSpan({ SpanStatusCode }: Api, span: OtelSpan): Span {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return {
    traceparent: `00-${traceId}-${spanId}-0${traceFlags & 1}`,
    set: attributes => void span.setAttributes(attributes),
    fail: type => void span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR }),
    end: at => span.end(new Date(at)),
  }
}

/** The given parent is the only one: the active context of the caller is not inherited. */
function contextOf({ ROOT_CONTEXT, trace }: Api, parent: Traceparent | undefined): Context {
  if (parent === undefined) return ROOT_CONTEXT
  const { flags: traceFlags, ...ids } = traceParts(parent)
  return trace.setSpanContext(ROOT_CONTEXT, { ...ids, traceFlags, isRemote: true })
}
