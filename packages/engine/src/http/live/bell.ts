// A bell that one loop waits on: rings while it is busy are remembered, however many, as one.

import type { Clock } from '../../ports/clock.ts'

export class Bell {
  #rung = false
  #wake: (() => void) | undefined

  ring(): void {
    this.#rung = true
    this.#wake?.()
  }

  /** Resolves at the next ring (at once if it rang since the last wait) or at `until`. */
  async wait(clock: Clock, until: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>(resolve => {
        const cancel = clock.at(until, resolve)
        this.#wake = () => {
          cancel()
          resolve()
        }
      })
      this.#wake = undefined
    }
    this.#rung = false
  }
}
