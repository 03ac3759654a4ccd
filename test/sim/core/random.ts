// Random numbers that a seed repeats, with the draws that the simulation needs. Every part draws from its own stream: switching
// one part off while a failure is shrunk leaves the others unchanged.

import { seededRandom } from '../../../packages/engine/src/adapters/clock/seeded-random.ts'
import type { Random } from '../../../packages/engine/src/ports/clock.ts'

export class Rng implements Random {
  readonly #seed: number
  readonly #label: string
  readonly #random: Random

  constructor(seed: number, label = 'root') {
    this.#seed = seed
    this.#label = label
    this.#random = seededRandom(hash32(`${seed}/${label}`) * 0x20_0000 + (hash32(`${label}/${seed}`) >>> 11))
  }

  next(): number {
    return this.#random.next()
  }

  /** An integer from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() * items.length)] as T
  }

  /** One of the keys, drawn by weight. */
  weighted<K extends string>(weights: Readonly<Partial<Record<K, number>>>): K {
    const entries = Object.entries(weights) as [K, number][]
    let rest = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [key, weight] of entries) {
      rest -= weight
      if (rest < 0) return key
    }
    return (entries.at(-1) as [K, number])[0]
  }

  /** An independent stream. */
  fork(label: string): Rng {
    return new Rng(this.#seed, `${this.#label}/${label}`)
  }
}

/** A number in [0, 1) that depends only on the text, for draws that must be equal each time. */
export function unitOf(text: string): number {
  return hash32(text) / 0x1_0000_0000
}

/** FNV-1a, finished with the mixer of MurmurHash3, so that short texts that differ in one character spread well. */
function hash32(text: string): number {
  let hash = 0x811c_9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x0100_0193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
