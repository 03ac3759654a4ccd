// The steps a pass has discovered and not reported yet, in the order of their discovery.

import { byteLength } from '../json.ts'
import type { EncodedOpcode } from './opcode.ts'

/** What discovering a step gives: its opcode, or the promise of one while its callback runs. It never rejects. */
export type Discovery = EncodedOpcode | Promise<EncodedOpcode>

interface Found {
  readonly place: number
  readonly opcode: EncodedOpcode
}

export class Discoveries {
  #found: Found[] = []
  #places = 0
  #running = 0
  #urgent = 0

  /** Callbacks that run. */
  get running(): number {
    return this.#running
  }

  /** How many steps have an opcode to report. */
  get size(): number {
    return this.#found.length
  }

  /** Whether a step is among them that the engine settles at once: the handler could go on. */
  get isUrgent(): boolean {
    return this.#urgent > 0
  }

  /** Takes up a discovery; `finished` is called if a callback was to run, when it has. */
  add(discovery: Discovery, finished: () => void): void {
    const place = this.#places++
    if (!(discovery instanceof Promise)) {
      this.#finish({ place, opcode: discovery })
      return
    }
    this.#running++
    discovery.then(opcode => {
      this.#running--
      this.#finish({ place, opcode })
      finished()
    })
  }

  /** Takes out the first opcodes that fit into `bytesMax`, one at least. */
  take(bytesMax: number): EncodedOpcode[] {
    const all = this.#sorted()
    let bytes = 0
    const end = all.findIndex(({ text }) => {
      bytes += byteLength(text) + 1
      return bytes > bytesMax
    })
    return this.#takeOut(all, end < 0 ? all.length : Math.max(1, end))
  }

  /** Takes out all opcodes. */
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
    return this.#found.sort((a, b) => a.place - b.place).map(({ opcode }) => opcode)
  }

  #finish(found: Found): void {
    this.#found.push(found)
    if (isUrgent(found.opcode)) this.#urgent++
  }
}

function isUrgent({ op }: EncodedOpcode): boolean {
  return op === 'StepRun' || op === 'Emit' || op === 'Webhook'
}
