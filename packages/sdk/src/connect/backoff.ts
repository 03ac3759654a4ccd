// How long a link waits before it dials again.

import { CLOSE_CODES } from '@perdure/protocol'

const PAUSE_MS_MAX = 15_000

/**
 * Milliseconds before the next attempt: `initialMs`, doubled with each failure in a row up to 15 s. With jitter, so
 * that a fleet does not return in step. `random` is from 0 up to 1.
 */
export function pauseMs(options: {
  closeCode: number
  /** In a row, from 1. */
  failures: number
  initialMs: number
  random: number
}): number {
  const { closeCode, failures, initialMs, random } = options
  // A draining engine has a successor, most likely.
  if (closeCode === CLOSE_CODES.draining && failures === 1) return Math.min(PAUSE_MS_MAX, initialMs) * random
  // One whose place was taken must not fight for it.
  const fullMs =
    closeCode === CLOSE_CODES.replaced ? PAUSE_MS_MAX : initialMs * 2 ** Math.min(failures - 1, 20)
  return Math.min(PAUSE_MS_MAX, fullMs) * (0.5 + 0.5 * random)
}
