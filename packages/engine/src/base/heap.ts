// The heap of the engine, and the share of it that each kind of work may use. V8 ends the process when the heap is
// full, so these bounds keep an engine alive.

import { getHeapStatistics } from 'node:v8'

/**
 * The heap has the results of a run under way, the invoke that carries them, and the invoke's text on its way to the socket:
 * three times the size of the run's state, and six times if a character is beyond Latin-1.
 */
const STATE_PART = 1 / 8

const MB = 1024 * 1024
/** An engine at rest with a smaller heap has no room for work. */
const HEAP_MB_MIN = 128

/** The maximum size of the heap in bytes, as Node was started. */
export function heapLimit(): number {
  return getHeapStatistics().heap_size_limit
}

/** The heap has a message as text and as parsed values, and also the steps that are made of it. */
const MESSAGE_PART = 1 / 16

const QUEUED_PART = 1 / 8

const EXPRESSION_PART = 1 / 16
const EXPRESSION_BYTES_MAX = 128 * MB

export interface HeapShares {
  /** Bytes of state of the runs under way. */
  stateBytesMax: number
  /** Bytes of large messages from runners that were read but are not stored yet. */
  messageBytesMax: number
  /** Bytes of compiled expressions that are kept. */
  expressionBytesMax: number
}

export function heapShares(limit = heapLimit()): HeapShares {
  return {
    stateBytesMax: Math.floor(limit * STATE_PART),
    messageBytesMax: Math.floor(limit * MESSAGE_PART),
    expressionBytesMax: Math.min(EXPRESSION_BYTES_MAX, Math.floor(limit * EXPRESSION_PART)),
  }
}

/** Bytes of the heap for writes that wait for the disk. */
export function queuedShare(limit = heapLimit()): number {
  return limit * QUEUED_PART
}

/** Returns why no engine can run with this heap, and the remedy; undefined if the heap is large enough. */
export function heapProblem(limit = heapLimit()): string | undefined {
  if (limit >= HEAP_MB_MIN * MB) return undefined
  return `the heap of Node has ${Math.floor(limit / MB)} MB, and an engine needs ${HEAP_MB_MIN}: start it with NODE_OPTIONS=--max-old-space-size=${2 * HEAP_MB_MIN}, or give the container more memory`
}
