// Delay before a link reconnects. Called by link.ts.

import { CLOSE_CODES } from '@perdure/protocol'

const RECONNECT_DELAY_MS_MAX = 15_000

/**
 * Returns the delay in milliseconds before the next connection attempt: `initialMs`, doubled with each failure up to 15 s, with
 * jitter so that many runners do not all reconnect at the same moment. `random` is a number from 0 up to 1.
 */
export function reconnectDelayMs(options: {
  closeCode: number
  /** Number of failures in a row, from 1. */
  failures: number
  initialMs: number
  random: number
}): number {
  const { closeCode, failures, initialMs, random } = options
  // A draining engine most likely has a successor already, so the first try is early.
  if (closeCode === CLOSE_CODES.draining && failures === 1) return Math.min(RECONNECT_DELAY_MS_MAX, initialMs) * random
  // Another socket has replaced this one: two runners with the same id must not replace each other in a fast loop.
  const fullMs =
    closeCode === CLOSE_CODES.replaced ? RECONNECT_DELAY_MS_MAX : initialMs * 2 ** Math.min(failures - 1, 20)
  return Math.min(RECONNECT_DELAY_MS_MAX, fullMs) * (0.5 + 0.5 * random)
}
