// W3C trace context: which trace a run belongs to, and the `traceparent` that tells others of it. Pure; whoever sent
// the event of a run may have begun its trace, else it follows from the run's id.

import { hash } from 'node:crypto'

/** `00-<trace id>-<span id>-<flags>`, lower case. */
export type Traceparent = string

const LENGTH = 55
const SHAPE = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/
const VERSION = '00'
const SAMPLED = 1

/**
 * What a `traceparent` header says, as version 00; undefined when it is none. Of its flags only "sampled" is kept. A
 * later version may hold more behind what is known.
 */
export function readTraceparent(header: unknown): Traceparent | undefined {
  if (typeof header !== 'string') return undefined
  const [, traceId, spanId, flags] = SHAPE.exec(header) ?? []
  if (flags === undefined || (header.startsWith(VERSION) && header.length !== LENGTH)) return undefined
  const sampled = Number.parseInt(flags, 16) & SAMPLED
  return `${VERSION}-${traceId}-${spanId}-0${sampled}`
}

/** The parts of a traceparent that `readTraceparent` gave. */
export function traceParts(traceparent: Traceparent): { traceId: string; spanId: string; flags: number } {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  return { traceId, spanId, flags: Number.parseInt(flags, 16) }
}

/** The same trace, one span further on. */
export function childTraceparent(parent: Traceparent, spanId: string): Traceparent {
  return `${parent.slice(0, 36)}${spanId}${parent.slice(52)}`
}

/** What all spans of a run are below: the same on every engine and after every restart. */
export function runTraceparent({ id, trace }: { id: string; trace?: Traceparent }): Traceparent {
  return trace ?? traceparentOf(id)
}

/** A trace that follows from an id. */
export function traceparentOf(id: string): Traceparent {
  const digest = hash('sha256', id, 'hex')
  return `${VERSION}-${digest.slice(0, 32)}-${digest.slice(32, 48)}-01`
}

/** Two numbers in [0, 1) as the id of a span. */
export function spanIdOf(first: number, second: number): string {
  return half(first) + half(second)
}

/** Never all zeros. */
function half(random: number): string {
  const bits = Math.floor(random * 0xffffffff) + 1
  return BYTES[bits >>> 24]! + BYTES[(bits >>> 16) & 255] + BYTES[(bits >>> 8) & 255] + BYTES[bits & 255]
}

const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
