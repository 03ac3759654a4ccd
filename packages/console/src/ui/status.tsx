// A status as glyph and word. Colour is only decoration: statuses differ by their shape.

import css from './status.module.css'

/** Every status of runs, steps and deliveries: its glyph and the token of its colour. */
const LOOKS = {
  queued: ['⋯', 'queued'],
  running: ['▶', 'running'],
  waiting: ['◷', 'waiting'],
  retrying: ['↻', 'retrying'],
  paused: ['‖', 'paused'],
  succeeded: ['✓', 'succeeded'],
  failed: ['✕', 'failed'],
  cancelled: ['⊘', 'queued'],
  pending: ['⋯', 'queued'],
  delivering: ['▶', 'running'],
  exhausted: ['✕', 'failed'],
  dead: ['✕', 'failed'],
} as const satisfies Record<string, readonly [string, string]>

/** The statuses of a run that has ended. */
export const ENDED: readonly unknown[] = ['succeeded', 'failed', 'cancelled']

/** Returns the glyph of a status; a dot for one that this version does not know. */
export function glyphOf(status: string): string {
  return (LOOKS as Record<string, readonly [string, string] | undefined>)[status]?.[0] ?? '•'
}

/** Returns the name of the colour token of a status. */
export function colourOf(status: string): string {
  return (LOOKS as Record<string, readonly [string, string] | undefined>)[status]?.[1] ?? 'queued'
}

/** A status with its glyph. `word` is shown instead of the status, such as "waiting for an event". */
export function Status({ status, word = status }: { status: string; word?: string }) {
  return (
    <span className={css.status} style={{ color: `var(--${colourOf(status)})` }}>
      <span aria-hidden="true" className={css.glyph}>
        {glyphOf(status)}
      </span>
      {word}
    </span>
  )
}
