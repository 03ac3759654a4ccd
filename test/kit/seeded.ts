// Random numbers that one seed repeats.

export interface Seeded {
  /** A number in [0, 1). */
  next(): number
  /** An integer from `min` to `max`, both included. */
  between(min: number, max: number): number
}

/** The generator mulberry32. */
export function seeded(seed: number): Seeded {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  return { next, between: (min, max) => min + Math.floor(next() * (max - min + 1)) }
}
