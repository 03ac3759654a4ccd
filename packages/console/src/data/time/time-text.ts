// Times of the URL as text.

import { startOf } from './window.ts'
import { textIn } from './zone.ts'

/** A time of the URL for reading: `2026-11-28 14:05` for an absolute one, and other texts as they are. */
export function timeText(value: string): string {
  const atMs = /^\d{4}-/.test(value) ? startOf(value, 0) : undefined
  return atMs === undefined ? value : textIn(atMs).slice(0, 16)
}
