// The steps that a pass has discovered and not reported yet, in the order of their discovery. Used by the pass and its
// checkpoints.

import { byteLength } from '../wire/text-size.ts'
import type { EncodedOpcode } from './opcode.ts'
import { OPCODE_RULES } from './opcode-rules.ts'

/** The opcode of a discovered step, or a promise of it while the step's callback runs. The promise never rejects. */
export type Discovery = EncodedOpcode | Promise<EncodedOpcode>

interface Found {
  /** Number of the step in the order of discovery. */
  readonly position: number
  readonly opcode: EncodedOpcode
}

export class Discoveries {
  #found: Found[] = []
  #nextPosition = 0
  #running = 0
  #urgent = 0

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
    return this.#urgent > 0
  }

  /** Adds a discovered step. If its callback runs, `finished` is called when the callback has settled. */
  add(discovery: Discovery, finished: () => void): void {
    const position = this.#nextPosition++
    if (!(discovery instanceof Promise)) {
      this.#finish({ position, opcode: discovery })
      return
    }
    this.#running++
    discovery.then(opcode => {
      this.#running--
      this.#finish({ position, opcode })
      finished()
    })
  }

  /** Removes and returns the first opcodes that fit into `bytesMax`, but at least one. */
  take(bytesMax: number): EncodedOpcode[] {
    const all = this.#sorted()
    let bytes = 0
    const end = all.findIndex(({ text }) => {
      bytes += byteLength(text) + 1
      return bytes > bytesMax
    })
    return this.#takeOut(all, end < 0 ? all.length : Math.max(1, end))
  }

  /** Removes and returns all opcodes. */
  takeAll(): EncodedOpcode[] {
    return this.#takeOut(this.#sorted(), this.#found.length)
  }

  #takeOut(sorted: EncodedOpcode[], count: number): EncodedOpcode[] {
    this.#found = this.#found.slice(count)
    const taken = sorted.slice(0, count)
    this.#urgent -= taken.filter(isUrgent).length
    return taken
  }

  #sorted(): EncodedOpcode[] {
    return this.#found.sort((a, b) => a.position - b.position).map(({ opcode }) => opcode)
  }

  #finish(found: Found): void {
    this.#found.push(found)
    if (isUrgent(found.opcode)) this.#urgent++
  }
}

function isUrgent({ op }: EncodedOpcode): boolean {
  return OPCODE_RULES[op].isUrgent
}
