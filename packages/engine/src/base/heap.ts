// The heap of the engine's thread, and the shares of it that work under way may have. V8 ends the process when the heap is full, so
// these are the bounds that keep an engine alive.

import { getHeapStatistics } from 'node:v8'

/**
 * A run under way has its results in the heap, the invoke that carries them, and the text of that on its way to the socket: three
 * times the size of its state, and six times if a character is beyond Latin-1.
 */
const STATE_PART = 1 / 8

const MB = 1024 * 1024
/** Below that an engine at rest has no room for work. */
const HEAP_MB_MIN = 128

/** Bytes of the heap at most, as Node was started. */
export function heapLimit(): number {
  return getHeapStatistics().heap_size_limit
}

/** A message is in the heap as text and as the values in it, besides the steps that are made of it. */
const MESSAGE_PART = 1 / 16

const QUEUED_PART = 1 / 8

const EXPRESSION_PART = 1 / 16
const EXPRESSION_BYTES_MAX = 128 * MB

export interface HeapShares {
  /** Bytes of state of the runs under way. */
  stateBytesMax: number
  /** Bytes of large messages of runners that are read and not stored yet. */
  messageBytesMax: number
  /** Bytes of the expressions that are kept compiled. */
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

/** Why no engine can run on the heap, and the remedy; undefined if it is large enough. */
export function heapProblem(limit = heapLimit()): string | undefined {
  if (limit >= HEAP_MB_MIN * MB) return undefined
  return `the heap of Node has ${Math.floor(limit / MB)} MB, and an engine needs ${HEAP_MB_MIN}: start it with NODE_OPTIONS=--max-old-space-size=${2 * HEAP_MB_MIN}, or give the container more memory`
}
