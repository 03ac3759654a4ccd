// The steps that a pass has discovered and not reported yet, in the order of their discovery. Used by the pass and its
// checkpoints.

import { byteLength } from '../wire/text-size.ts'
import { type EncodedOpcode, OPCODE_RULES } from './opcode.ts'

/** The opcode of a discovered step, or what starts the step's callback. The promise of a callback never rejects. */
export type Discovery = EncodedOpcode | StartOfCallback
export type StartOfCallback = () => Promise<EncodedOpcode>

/** How much the handler may get before it is stored: an answer or a checkpoint must have room for it. */
const HANDED_CHARS_MAX = 128 * 1024

interface Found {
  /** Number of the step in the order of discovery. */
  readonly position: number
  readonly opcode: EncodedOpcode
}

export class Discoveries {
  readonly #found: Found[] = []
  readonly #handed: EncodedOpcode[] = []
  #handedChars = 0
  #nextPosition = 0
  #running = 0

  /** How many step callbacks are running. */
  get running(): number {
    return this.#running
  }

  /** How many steps have an opcode to report. */
  get size(): number {
    return this.#found.length + this.#handed.length
  }

  /** Whether the handler has results that are not reported. */
  get hasHanded(): boolean {
    return this.#handed.length > 0
  }

  /** Whether the engine would settle one of the steps at once, so that the handler could continue. */
  get isUrgent(): boolean {
    return this.hasHanded || this.#found.some(({ opcode }) => OPCODE_RULES[opcode.op].isUrgent)
  }

  /** Adds the opcode of a discovered step. */
  add(opcode: EncodedOpcode): void {
    this.#found.push({ position: this.#nextPosition++, opcode })
  }

  /** Starts the callback of a discovered step. `finished` is called when it has settled. */
  start(start: StartOfCallback, finished: () => void): void {
    const position = this.#nextPosition++
    this.#running++
    start().then(opcode => {
      this.#running--
      this.#found.push({ position, opcode })
      finished()
    })
  }

  /**
   * Returns the steps that the handler may have before they are stored, in the order in which they will be: all that were
   * found, `count` of them, if each is sure to settle with its result and no callback runs. Otherwise undefined.
   */
  handOver(count: number): EncodedOpcode[] | undefined {
    if (this.#running > 0 || this.#found.length !== count || !this.#found.every(({ opcode }) => opcode.settles)) return
    const chars = this.#found.reduce((sum, { opcode }) => sum + opcode.text.length, this.#handedChars)
    if (chars > HANDED_CHARS_MAX) return undefined
    this.#handedChars = chars
    const opcodes = this.#takeFound(Number.POSITIVE_INFINITY, 1)
    this.#handed.push(...opcodes)
    return opcodes
  }

  /** Removes and returns the opcodes whose results the handler has. They are stored before all others. */
  takeHanded(): EncodedOpcode[] {
    this.#handedChars = 0
    return this.#handed.splice(0)
  }

  /** Adds opcodes that were reported in vain. They are stored before all others. */
  takeBack(opcodes: readonly EncodedOpcode[]): void {
    this.#handed.unshift(...opcodes)
  }

  /** Removes and returns the first opcodes that fit into `bytesMax`, but at least one. By default returns all. */
  take(bytesMax = Number.POSITIVE_INFINITY): EncodedOpcode[] {
    const handed = this.takeHanded()
    if (handed.length === 0) return this.#takeFound(bytesMax, 1)
    const left = bytesMax - handed.reduce((sum, { text }) => sum + byteLength(text) + 1, 0)
    return this.#found.length === 0 ? handed : [...handed, ...this.#takeFound(left, 0)]
  }

  #takeFound(bytesMax: number, countMin: number): EncodedOpcode[] {
    this.#found.sort((a, b) => a.position - b.position)
    let bytes = 0
    const end = this.#found.findIndex(({ opcode }) => {
      bytes += byteLength(opcode.text) + 1
      return bytes > bytesMax
    })
    const count = end < 0 ? this.#found.length : Math.max(countMin, end)
    return this.#found.splice(0, count).map(({ opcode }) => opcode)
  }
}
