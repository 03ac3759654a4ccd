// Plays random histories of a crashing engine, and planted bugs that the histories must notice.

import { expect, it } from 'vitest'
import { Rng } from '../core/random.ts'
import { isOneSeed } from '../core/seeds.ts'
import { CrashingEngine, type CrashingEngineOptions, type Tamper } from './crashing-engine.ts'

/** Seeds that are played before a planted bug counts as unnoticed. */
const SEEDS_MAX = 200

export interface History {
  readonly transcript: readonly string[]
  play(): Promise<void>
}

/** How often each thing was met, by name. */
export type Seen = Record<string, number>

/** A history of random acts against an engine. It counts what it meets. */
export abstract class RandomHistory implements History {
  readonly transcript: string[] = []
  protected readonly engine: CrashingEngine
  protected readonly rng: Rng
  readonly #seen: Seen

  constructor(engine: CrashingEngine, rng: Rng, seen: Seen) {
    this.engine = engine
    this.rng = rng
    this.#seen = seen
  }

  abstract play(): Promise<void>

  /** Acts and checks this many times. The engine crashes now and then. */
  protected async actAndLook(times: number, act: () => Promise<void>, look: () => Promise<void>): Promise<void> {
    for (let time = 0; time < times; time++) {
      if (this.rng.chance(0.1)) this.engine.crashAtWrite(this.rng.int(1, 5), this.rng.chance(0.5))
      await act()
      this.engine.spare()
      await look()
    }
  }

  protected note(what: string): void {
    this.#seen[what] = (this.#seen[what] ?? 0) + 1
  }
}

/** Plays the history of a seed. Throws the fault that it found, with the seed and the transcript. */
export async function playHistory<T extends History>(
  seed: number,
  open: (engine: CrashingEngine) => T,
  options: CrashingEngineOptions = {},
): Promise<T> {
  const engine = await CrashingEngine.open(options)
  const history = open(engine)
  await playOn([engine], seed, history)
  return history
}

/** Plays a history of engines that share a store, and closes the engines, also those that the history has added. */
export async function playOn(engines: CrashingEngine[], seed: number, history: History): Promise<void> {
  try {
    await history.play()
  } catch (error) {
    throw new Error(`seed ${seed}: ${(error as Error).message}\n${history.transcript.join('\n')}`, { cause: error })
  } finally {
    for (const engine of engines.reverse()) await engine.close()
  }
}

/** Turns of the event loop that calls to the store wait, so that they happen in every order. */
function randomTurns(seed: number): () => number {
  const turns = new Rng(seed, 'turns')
  return () => (turns.chance(0.3) ? turns.int(1, 10) : 0)
}

/** A bug that histories must notice. */
export interface Planted {
  name: string
  tamper: Tamper
  /** The first seed to play. The seeds before it do not show the bug. */
  from?: number
}

/** Expects one of the seeds from `from` on to fail. */
export async function expectNoticed({ name, from = 1 }: Planted, play: (seed: number) => Promise<unknown>) {
  for (let seed = from; seed <= SEEDS_MAX; seed++) {
    const failure = await play(seed).then(
      () => undefined,
      (error: Error) => error,
    )
    if (failure) return console.info(`${name}: seed ${seed}`)
  }
  expect.unreachable(`${SEEDS_MAX} seeds did not notice: ${name}`)
}

export interface Histories {
  /** The promise that the histories show: the name of the test. */
  shows: string
  seeds: readonly number[]
  timeoutMs: number
  /** The name of these histories' random numbers. */
  salt: string
  open(engine: CrashingEngine, rng: Rng, seen: Seen): History
  /** Names of the things that the histories must meet, so that they test something. */
  meets: readonly string[]
  planted: readonly Planted[]
}

/** Declares the test that plays the history of every seed, and one test for each planted bug. */
export function testHistories({ shows, seeds, timeoutMs, salt, open, meets, planted }: Histories): void {
  const play = (seed: number, seen: Seen, tamper?: Tamper) =>
    playHistory(seed, engine => open(engine, new Rng(seed, salt), seen), { tamper, turns: randomTurns(seed) })

  it(`${shows} in ${seeds.length} histories`, { timeout: timeoutMs }, async () => {
    const seen: Seen = {}
    for (const seed of seeds) await play(seed, seen)
    console.info(JSON.stringify(seen))
    if (isOneSeed) return
    for (const what of meets) expect(seen[what], `${what} in ${JSON.stringify(seen)}`).toBeGreaterThan(5)
  })

  it.each(planted)('notices $name', bug => expectNoticed(bug, seed => play(seed, {}, bug.tamper)))
}
