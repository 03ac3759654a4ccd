// The trace of a simulation, in virtual time. Every seed keeps one (it is cheap), and a failing seed prints it filtered. Its
// digest shows whether a seed repeats itself.

import { createHash } from 'node:crypto'
import type { Clock } from '../../../packages/engine/src/ports/clock.ts'

const LINES_MAX = 50_000
const SHOWN_MAX = 120

interface Line {
  at: number
  text: string
  /** Concerns everything: a crash, a start. */
  global: boolean
}

export class Trace {
  readonly #clock: Clock
  readonly #start: number
  readonly #lines: Line[] = []
  readonly #digest = createHash('sha1')

  constructor(clock: Clock) {
    this.#clock = clock
    this.#start = clock.now()
  }

  add(text: string): void {
    this.#push(text, false)
  }

  /** Adds a line that every excerpt contains. */
  addGlobal(text: string): void {
    this.#push(text, true)
  }

  digest(): string {
    return this.#digest.copy().digest('hex')
  }

  /** The lines about the subjects and the global lines. Without subjects, the last lines overall. */
  excerpt(subjects: readonly string[]): string {
    const concerned = this.#lines.filter(
      line => subjects.length === 0 || line.global || subjects.some(subject => line.text.includes(subject)),
    )
    const left = Math.max(0, concerned.length - SHOWN_MAX)
    const shown = concerned.slice(left).map(({ at, text }) => `${stamp(at - this.#start)} ${text}`)
    return [...(left > 0 ? [`(${left} earlier lines left out)`] : []), ...shown].join('\n')
  }

  #push(text: string, global: boolean): void {
    const at = this.#clock.now()
    this.#digest.update(`${at} ${text}\n`)
    if (this.#lines.length < LINES_MAX) this.#lines.push({ at, text, global })
  }
}

function stamp(ms: number): string {
  return `+${(ms / 1000).toFixed(3).padStart(8)}`
}
