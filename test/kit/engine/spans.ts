// A tracing SDK in memory, registered as an operator would do it. It keeps every span that the engine creates.

import { randomBytes } from 'node:crypto'
import {
  type Attributes,
  type Context,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import { onCleanup } from '../cleanup.ts'

export interface RecordedSpan {
  name: string
  traceId: string
  spanId: string
  /** The span id of the parent, if there is one. */
  parentId: string | undefined
  sampled: boolean
  kind: number | undefined
  attributes: Attributes
  failed: boolean
  startMs: number
  endMs?: number
}

const hex = (bytes: number) => randomBytes(bytes).toString('hex')

/** Registers the SDK for this process until `close`, or until the test file ends. */
export function openSpans(): { spans: RecordedSpan[]; close(): void } {
  const spans: RecordedSpan[] = []
  const startSpan = (name: string, options: SpanOptions = {}, context: Context): Span => {
    const parent = trace.getSpanContext(context)
    const span: RecordedSpan = {
      name,
      traceId: parent?.traceId ?? hex(16),
      spanId: hex(8),
      parentId: parent?.spanId,
      sampled: parent === undefined || parent.traceFlags === 1,
      kind: options.kind,
      attributes: { ...options.attributes },
      failed: false,
      startMs: (options.startTime as Date).getTime(),
    }
    spans.push(span)
    return asSpan(span)
  }
  const provider: TracerProvider = { getTracer: () => ({ startSpan }) as Partial<Tracer> as Tracer }
  if (!trace.setGlobalTracerProvider(provider)) throw new Error('a tracing SDK is registered already')
  const close = () => trace.disable()
  onCleanup(close)
  return { spans, close }
}

function asSpan(recorded: RecordedSpan): Span {
  const span: Partial<Span> = {
    spanContext: () => ({
      traceId: recorded.traceId,
      spanId: recorded.spanId,
      traceFlags: recorded.sampled ? 1 : 0,
    }),
    setAttribute(key, value) {
      recorded.attributes[key] = value
      return span as Span
    },
    setAttributes(attributes) {
      Object.assign(recorded.attributes, attributes)
      return span as Span
    },
    setStatus({ code }) {
      recorded.failed = code === SpanStatusCode.ERROR
      return span as Span
    },
    end(time) {
      if (recorded.endMs !== undefined) throw new Error(`the span ${recorded.name} has ended twice`)
      recorded.endMs = (time as Date).getTime()
    },
  }
  return span as Span
}
