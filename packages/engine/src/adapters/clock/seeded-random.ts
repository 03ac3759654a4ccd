// Randomness: the system's for a real engine, and a seeded generator for tests and the simulation, whose failures print
// the seed.

import type { Random } from '../../ports/clock.ts'

export const systemRandom: Random = { next: () => Math.random() }

const WARM_UP_ROUNDS = 12

/** The generator sfc32 (Chris Doty-Humphrey, "small fast counting"), its three words filled from the seed. */
export function seededRandom(seed: number): Random {
  let a = seed | 0
  let b = Math.floor(seed / 0x1_0000_0000) | 0
  let c = 0x9e37_79b9 | 0
  let counter = 1
  const draw = (): number => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return sum >>> 0
  }
  // Neighbouring seeds differ in a few bits only; these rounds spread the difference over the whole state.
  for (let i = 0; i < WARM_UP_ROUNDS; i++) draw()
  return { next: () => draw() / 0x1_0000_0000 }
}
