// W3C trace context: which trace a run belongs to, and its `traceparent`. The sender of the run's event may have begun the
// trace; otherwise the trace follows from the run's id.

import { hash } from 'node:crypto'

/** `00-<trace id>-<span id>-<flags>`, lower case. */
export type Traceparent = string

const LENGTH = 55
const SHAPE = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/
const VERSION = '00'
const SAMPLED = 1

/**
 * The `traceparent` header as version 00; undefined if it is invalid. Keeps only the flag "sampled", and ignores additions of
 * later versions.
 */
export function readTraceparent(header: unknown): Traceparent | undefined {
  if (typeof header !== 'string') return undefined
  const [, traceId, spanId, flags] = SHAPE.exec(header) ?? []
  if (flags === undefined || (header.startsWith(VERSION) && header.length !== LENGTH)) return undefined
  const sampled = Number.parseInt(flags, 16) & SAMPLED
  return `${VERSION}-${traceId}-${spanId}-0${sampled}`
}

/** The parts of a traceparent that `readTraceparent` returned. */
export function traceParts(traceparent: Traceparent): { traceId: string; spanId: string; flags: number } {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  return { traceId, spanId, flags: Number.parseInt(flags, 16) }
}

/** The same trace with another parent span. */
export function childTraceparent(parent: Traceparent, spanId: string): Traceparent {
  return `${parent.slice(0, 36)}${spanId}${parent.slice(52)}`
}

/** The parent of all spans of a run: the same on every engine and after every restart. */
export function runTraceparent({ id, trace }: { id: string; trace?: Traceparent }): Traceparent {
  return trace ?? traceparentOf(id)
}

/** Derives a trace from an id. */
export function traceparentOf(id: string): Traceparent {
  const digest = hash('sha256', id, 'hex')
  return `${VERSION}-${digest.slice(0, 32)}-${digest.slice(32, 48)}-01`
}

/** The id of a span, from two random numbers in [0, 1). */
export function spanIdOf(first: number, second: number): string {
  return half(first) + half(second)
}

/** Eight hex digits, never all zeros: a span id of zeros is invalid. */
function half(random: number): string {
  const bits = Math.floor(random * 0xffffffff) + 1
  return BYTES[bits >>> 24]! + BYTES[(bits >>> 16) & 255] + BYTES[(bits >>> 8) & 255] + BYTES[bits & 255]
}

const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
