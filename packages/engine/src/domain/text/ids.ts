// Ids: a prefix and a ULID, so that they sort by creation time (docs/concepts.md#ids-and-times). An id is either derived
// from its subject, so that repeated work gives the same id, or drawn at random.

import { hash } from 'node:crypto'

export type IdPrefix = 'run' | 'evt' | 'dlv' | 'att' | 'whe' | 'whr' | 'act' | 'key' | 'blk'

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const TIME_LENGTH = 10
const ENTROPY_LENGTH = 16

/** Derives an id: the same parts and time give the same id. */
export function derivedId(prefix: IdPrefix, at: number, ...parts: string[]): string {
  const digest = hash('sha256', parts.join('\n'), 'buffer')
  let entropy = ''
  for (let i = 0; i < ENTROPY_LENGTH; i++) entropy += ALPHABET[(digest[i] as number) & 31]
  return `${prefix}_${encodeTime(at)}${entropy}`
}

/** The same for one of several ids that are made at one time: their order follows their ranks. */
export function rankedId(prefix: IdPrefix, at: number, rank: number, ...parts: string[]): string {
  const derived = derivedId(prefix, at, ...parts)
  const start = prefix.length + 1 + TIME_LENGTH
  const digits = [rank >> 10, rank >> 5, rank].map(digit => ALPHABET[digit & 31]).join('')
  return `${derived.slice(0, start)}${digits}${derived.slice(start + digits.length)}`
}

/** A lower bound in sort order for all ids of that time or later. */
export function earliestId(prefix: IdPrefix, at: number): string {
  return `${prefix}_${encodeTime(at)}`
}

/** The time with which an id begins. */
export function timeOfId(id: string): number {
  const start = id.indexOf('_') + 1
  let ms = 0
  for (const digit of id.slice(start, start + TIME_LENGTH)) ms = ms * 32 + ALPHABET.indexOf(digit)
  return ms
}

/** Draws ids that strictly rise within this source, even within one millisecond and when the clock is set back. */
export class IdSource {
  readonly #random: () => number
  #lastMs = -1
  #digits: number[] = []

  constructor(random: () => number) {
    this.#random = random
  }

  next(prefix: IdPrefix, now: number): string {
    this.#advance(now)
    return ulid(prefix, this.#lastMs, this.#digits)
  }

  /**
   * Draws an id of exactly this time, for rows that are listed by id in order of time. Unlike `next`, it follows a clock that
   * is set back. Ids of the same time rise.
   */
  nextAt(prefix: IdPrefix, now: number): string {
    this.#advance(now)
    return ulid(prefix, now, this.#digits)
  }

  #advance(now: number): void {
    if (now <= this.#lastMs) {
      this.#increment()
      return
    }
    this.#lastMs = now
    this.#digits = Array.from({ length: ENTROPY_LENGTH }, () => Math.floor(this.#random() * 32))
    // Leave room for increments within the millisecond.
    this.#digits[0] = (this.#digits[0] as number) & 15
  }

  #increment(): void {
    for (let i = ENTROPY_LENGTH - 1; i >= 0; i--) {
      const digit = (this.#digits[i] as number) + 1
      this.#digits[i] = digit & 31
      if (digit < 32) return
    }
  }
}

function ulid(prefix: IdPrefix, at: number, digits: readonly number[]): string {
  let entropy = ''
  for (const digit of digits) entropy += ALPHABET[digit]
  return `${prefix}_${encodeTime(at)}${entropy}`
}

let lastTime = -1
let lastEncoded = ''

/** Ten digits of base 32. Caches the last time, since many ids are drawn within one millisecond. */
function encodeTime(ms: number): string {
  if (ms === lastTime) return lastEncoded
  let rest = Math.max(0, Math.floor(ms))
  let encoded = ''
  for (let i = 0; i < TIME_LENGTH; i++) {
    encoded = ALPHABET[rest % 32] + encoded
    rest = Math.floor(rest / 32)
  }
  lastTime = ms
  lastEncoded = encoded
  return encoded
}

const RUN_PREFIX = 'run_'
/**
 * Separates an id of the engine from the id that a caller gave. Neither id contains it (docs/decisions/0015-given-run-ids.md).
 */
const GIVEN_SEPARATOR = '.'

const ENGINE_FORM = new RegExp(`^${RUN_PREFIX}[${ALPHABET}]{${TIME_LENGTH + ENTROPY_LENGTH}}$`)

/** Whether the engine may have made this run id. A caller may give one of the same form. */
export function hasEngineForm(runId: string | undefined): boolean {
  return runId !== undefined && ENGINE_FORM.test(runId)
}

/** The id under which the run is stored. It differs between namespaces, since callers of two namespaces may give the same id. */
export function storedRunId(run: { namespace: string; givenId: string; at: number }): string {
  const { namespace, givenId, at } = run
  return `${derivedId('run', at, namespace, givenId)}${GIVEN_SEPARATOR}${givenId.slice(RUN_PREFIX.length)}`
}

/** The id that the caller gave to the run; undefined if the engine made its id. */
export function givenIdOf(runId: string): string | undefined {
  const at = runId.indexOf(GIVEN_SEPARATOR)
  return at < 0 ? undefined : `${RUN_PREFIX}${runId.slice(at + 1)}`
}

/** The id of a run as the API shows it. All code that sends a run's id out of the engine calls this. */
export function shownRunId<Id extends string | undefined>(runId: Id): Id {
  return ((runId === undefined ? undefined : givenIdOf(runId)) ?? runId) as Id
}
