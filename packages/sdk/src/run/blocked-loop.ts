// Measures how long the event loop of this process was blocked, if somebody watches it. A connected runner does
// (connect/beats.ts); step callbacks check whether they blocked it.

import { Buffer } from 'node:buffer'

/** A block that ended: when, by the monotonic clock, and how long it took. */
let last = { endedAt: Number.NEGATIVE_INFINITY, ms: 0 }
let turnedAt: number | undefined
/** Text in shared memory: its length, then its bytes. */
let begun: Buffer | undefined
let turnMs = 0

/** Notes that the event loop has turned, as it should every `everyMs`. */
export function loopTurned(everyMs: number): void {
  const now = performance.now()
  const ms = turnedAt === undefined ? 0 : now - turnedAt - everyMs
  if (ms > everyMs) last = { endedAt: now, ms }
  turnedAt = now
  turnMs = everyMs
}

/** Most bytes of the name of a step that other threads see. */
const NAME_BYTES_MAX = 255

/** Writes the name of the newest step to this memory from now on, where other threads see it. */
export function showBegunSteps(): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(1 + NAME_BYTES_MAX)
  begun = Buffer.from(memory)
  return memory
}

/** Notes that the callback of a step begins. */
export function stepBegins(name: string): void {
  if (begun) begun[0] = begun.write(name, 1)
}

/** Returns how long the event loop was blocked since then; 0 if nobody watches it, or if it was blocked only for a moment. */
export function blockedMsSince(startedAt: number): number {
  if (turnedAt === undefined) return 0
  const underWayMs = performance.now() - Math.max(turnedAt, startedAt) - turnMs
  const endedMs = last.endedAt > startedAt ? Math.min(last.ms, last.endedAt - startedAt) : 0
  return Math.max(underWayMs, endedMs, 0)
}
