// Delays the answer of a pass that seems to be stuck, at the places where handlers of its workflow have continued late. Created
// by invoke.ts for workflows that have such places, used by the pass.

import type { LatePlaces, Place } from './late-places.ts'

/** Captured before a test can replace them with fake timers. */
const { setTimeout, clearTimeout } = globalThis

export interface AnswerDelayOptions {
  workflow: string
  places: LatePlaces
  /** The pass must answer within this time. */
  timeoutMs: number | undefined
  /** The handler continued while the pass was kept open at a place where none had been late. */
  onSaved(place: Place, wentOn: { step: string | undefined; delayMs: number }): void
}

/** The place and progress of a pass. */
export interface Position extends Pick<Place, 'after' | 'open'> {
  /** Rises with each step that is called or settled. */
  readonly position: number
}

/** The part of a delay that its pass uses. */
export type Delay = Pick<AnswerDelay, 'keepsOpen' | 'goesOn' | 'stop'>

export class AnswerDelay {
  readonly #options: AnswerDelayOptions
  #at: Position | undefined
  #since = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: AnswerDelayOptions) {
    this.#options = options
  }

  /** Returns when the pass began to seem stuck at its current position. */
  since({ position }: Position): number {
    return this.#at?.position === position ? this.#since : performance.now()
  }

  /** Whether the pass stays open. Calls `onOver` when the time is over. */
  keepsOpen(at: Position, onOver: () => void): boolean {
    if (at.position === this.#at?.position) return this.#timer !== undefined
    this.stop()
    const { places, workflow, timeoutMs = Number.POSITIVE_INFINITY } = this.#options
    const ms = Math.min(places.delayMs({ ...at, workflow }), timeoutMs / 2)
    this.#at = at
    this.#since = performance.now()
    if (ms <= 0) return false
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      onOver()
    }, ms)
    return true
  }

  /** Called when the handler continues: it calls a step, or it has settled. */
  goesOn(step?: string): void {
    if (this.#timer === undefined || !this.#at) return
    const { places, workflow, onSaved } = this.#options
    const place = { ...this.#at, workflow }
    const delayMs = performance.now() - this.#since
    this.stop()
    if (places.wentOn(place, delayMs)) onSaved(place, { step, delayMs })
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
