// The steps that a pass has discovered and not reported yet, in the order of their discovery. Used by the pass and its
// checkpoints.

import { byteLength } from '../wire/text-size.ts'
import { type EncodedOpcode, OPCODE_RULES } from './opcode.ts'

/** The opcode of a discovered step, or a promise of it while the step's callback runs. The promise never rejects. */
export type Discovery = EncodedOpcode | Promise<EncodedOpcode>

interface Found {
  /** Number of the step in the order of discovery. */
  readonly position: number
  readonly opcode: EncodedOpcode
}

export class Discoveries {
  readonly #found: Found[] = []
  #nextPosition = 0
  #running = 0

  /** How many step callbacks are running. */
  get running(): number {
    return this.#running
  }

  /** How many steps have an opcode to report. */
  get size(): number {
    return this.#found.length
  }

  /** Whether the engine would settle one of the steps at once, so that the handler could continue. */
  get isUrgent(): boolean {
    return this.#found.some(({ opcode }) => OPCODE_RULES[opcode.op].isUrgent)
  }

  /** Adds a discovered step. If its callback runs, `finished` is called when the callback has settled. */
  add(discovery: Discovery, finished: () => void): void {
    const position = this.#nextPosition++
    if (!(discovery instanceof Promise)) {
      this.#found.push({ position, opcode: discovery })
      return
    }
    this.#running++
    discovery.then(opcode => {
      this.#running--
      this.#found.push({ position, opcode })
      finished()
    })
  }

  /** Removes and returns the first opcodes that fit into `bytesMax`, but at least one. By default returns all. */
  take(bytesMax = Number.POSITIVE_INFINITY): EncodedOpcode[] {
    this.#found.sort((a, b) => a.position - b.position)
    let bytes = 0
    const end = this.#found.findIndex(({ opcode }) => {
      bytes += byteLength(opcode.text) + 1
      return bytes > bytesMax
    })
    const count = end < 0 ? this.#found.length : Math.max(1, end)
    return this.#found.splice(0, count).map(({ opcode }) => opcode)
  }
}
