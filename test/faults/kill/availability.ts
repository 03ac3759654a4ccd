// Whether the engine is up, and the kill at a random moment.

import { type EngineProcess, gate, type Seeded, until } from '../../kit/index.ts'

/** Open while the engine is up, closed while it is down. */
export class Availability {
  #gate = gate()
  #isUp = false

  /** Resolves at once, or when the engine is back. */
  readonly whenUp = (): Promise<void> => this.#gate.opened

  up(): void {
    this.#isUp = true
    this.#gate.open()
  }

  down(): void {
    if (this.#isUp) this.#gate = gate()
    this.#isUp = false
  }
}

const EARLY_MS_MAX = 500

export interface KillOptions {
  availability: Availability
  random: Seeded
  /** Counts progress of the load. */
  progress: () => number
  /** The maximum progress between a start of the engine and its kill. */
  progressMax: number
}

/**
 * Starts the engine and kills it at a random moment: usually after some progress of the load, sometimes while the engine
 * starts.
 */
export async function killOnce(engine: EngineProcess, options: KillOptions): Promise<void> {
  const { availability, random, progress, progressMax } = options
  const early = random.next() < 0.15
  const delayMs = random.between(0, EARLY_MS_MAX)
  const enough = progress() + random.between(0, progressMax)
  const started = engine.start().then(
    () => availability.up(),
    // The engine was killed before it listened.
    () => {},
  )
  if (early) await new Promise(resolve => setTimeout(resolve, delayMs))
  else {
    await started
    await until(() => progress() >= enough, { what: 'progress of the load' })
    // Without this pause the kill would always follow an invoke.
    await new Promise(resolve => setTimeout(resolve, delayMs / 5))
  }
  availability.down()
  await engine.kill9()
  await started
  availability.down()
}
