// Times of the URL as text.

import { startOf } from './window.ts'
import { textIn } from './zone.ts'

/** Returns a time of the URL in readable form: `2026-11-28 14:05` for an absolute time, and other texts unchanged. */
export function timeText(value: string): string {
  const atMs = /^\d{4}-/.test(value) ? startOf(value, 0) : undefined
  return atMs === undefined ? value : textIn(atMs).slice(0, 16)
}
