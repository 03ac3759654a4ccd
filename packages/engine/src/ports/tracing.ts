// The Tracing port: spans, for an engine whose process has a tracing SDK. Without one there is no port at all, and
// nothing is made only to be thrown away.

import type { Traceparent } from '../domain/text/traceparent.ts'

export type SpanName =
  | 'perdure.event'
  | 'perdure.run'
  | 'perdure.invoke'
  | 'perdure.step'
  | 'perdure.delivery'

/** Values are few and bounded: no payload, no URL with its query, nothing secret. */
export type SpanAttributes = Record<string, string | number | boolean | undefined>

export interface SpanOptions {
  /** The span it is below; absent: it begins a trace. */
  parent: Traceparent | undefined
  /** `client`: a call of somebody else; `producer`: work that others will take up. */
  kind: 'client' | 'producer' | 'internal'
  attributes: SpanAttributes
  /** When it began, epoch ms. */
  startedAt: number
}

export interface Span {
  /** To be sent to whoever works on it. */
  readonly traceparent: Traceparent
  set(attributes: SpanAttributes): void
  /** It ends as an error. No message goes with it: those are the users' own words. */
  fail(type: string): void
  /** Nothing may be said of it afterwards. */
  end(at: number): void
}

export interface Tracing {
  start(name: SpanName, options: SpanOptions): Span
}
