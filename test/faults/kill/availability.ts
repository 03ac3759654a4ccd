// Whether the engine is up, and the kill at a random moment.

import { type EngineProcess, gate, type Seeded } from '../../kit/index.ts'

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

/** Starts the engine and kills it at a random moment: mostly while it works, sometimes while it starts. */
export async function killOnce(
  engine: EngineProcess,
  availability: Availability,
  random: Seeded,
): Promise<void> {
  const early = random.next() < 0.15
  const delayMs = random.between(0, 500)
  const started = engine.start().then(
    () => availability.up(),
    // The engine was killed before it listened.
    () => {},
  )
  if (!early) await started
  await new Promise(resolve => setTimeout(resolve, delayMs))
  availability.down()
  await engine.kill9()
  await started
  availability.down()
}
