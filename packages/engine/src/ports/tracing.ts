// The Tracing port: spans, for an engine whose process has a tracing SDK. Without an SDK the port is undefined, so no span is
// created for nothing.

import type { Traceparent } from '../domain/text/traceparent.ts'

type SpanName = 'perdure.event' | 'perdure.run' | 'perdure.invoke' | 'perdure.step' | 'perdure.delivery'

/** Values are bounded and never secret: no payloads, no URLs with a query. */
export type SpanAttributes = Record<string, string | number | boolean | undefined>

interface SpanOptions {
  /** The parent span; undefined starts a trace. */
  parent: Traceparent | undefined
  /** `client`: a call to another process; `producer`: work that happens later. */
  kind: 'client' | 'producer' | 'internal'
  attributes: SpanAttributes
  /** Epoch ms. */
  startedAt: number
}

export interface Span {
  /** Passed on to the process that does the work. */
  readonly traceparent: Traceparent
  set(attributes: SpanAttributes): void
  /** Marks the span as failed. The message of the error is left out, because it is the user's data. */
  fail(type: string): void
  /** The span must not be changed afterwards. */
  end(at: number): void
}

export interface Tracing {
  start(name: SpanName, options: SpanOptions): Span
}
