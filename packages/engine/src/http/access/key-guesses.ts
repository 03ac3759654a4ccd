// Slows down attempts to guess API keys: counts the wrong keys of each address, and refuses further ones with 429
// (docs/security.md#wrong-keys). Called by authorize.ts and connect/hub.ts around the check of the key.

import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { Logger } from 'pino'
import { EngineError } from '../../domain/model/errors.ts'
import type { Clock } from '../../ports/clock.ts'
import { OncePerMinute } from '../../services/support/once-per-minute.ts'

/** Wrong keys that an address may send at once. */
export const WRONG_KEYS_MAX = 100
/** After this time it may send one more. */
export const WRONG_KEY_AGAIN_MS = 3_000
/** Most addresses in memory; beyond this the address that was quiet for longest is forgotten. */
export const ADDRESSES_MAX = 10_000
/** A longer key cannot be guessed, so it is always looked up: nobody can lock out the others at an address. */
const GUESSABLE_LENGTH_MAX = 'Bearer '.length + 31
/** Number of recent wrong keys whose repetition does not count as a further guess. */
const REPEATED_MAX = 16

interface Guesses {
  /** Wrong keys, less one for every `WRONG_KEY_AGAIN_MS` since. */
  count: number
  /** When `count` was computed, by the monotonic clock. */
  at: number
  /** Digests of the last wrong keys. */
  last: string[]
}

export class KeyGuesses {
  readonly #clock: Clock
  readonly #log: Logger
  readonly #logged: OncePerMinute
  /** By network, the least recent first. */
  readonly #networks = new Map<string, Guesses>()

  constructor({ clock, log }: { clock: Clock; log: Logger }) {
    this.#clock = clock
    this.#log = log
    this.#logged = new OncePerMinute(clock)
  }

  /** Addresses in memory; for tests of their bound. */
  get size(): number {
    return this.#networks.size
  }

  /** Throws `rate_limited` for a key that could be a guess, before it is looked up, if its address has no guesses left. */
  refuseSpent(authorization: string | undefined, address: string | undefined): void {
    if (this.#networks.size === 0 || authorization === undefined) return
    if (authorization.length > GUESSABLE_LENGTH_MAX) return
    const guesses = this.#current(networkOf(address))
    if (guesses && guesses.count > WRONG_KEYS_MAX - 1) throw tooMany(guesses)
  }

  /** Counts the refusal of a wrong key, and returns the refusal to answer with. Returns every other refusal unchanged. */
  counted<T>(refusal: T, authorization: string | undefined, address: string | undefined): T | EngineError {
    if (!(refusal instanceof EngineError) || refusal.code !== 'unauthorized' || authorization === undefined) {
      return refusal
    }
    const network = networkOf(address)
    const guesses = this.#current(network) ?? { count: 0, at: this.#clock.elapsed(), last: [] }
    this.#keep(network, guesses)
    const digest = createHash('sha256').update(authorization).digest('base64').slice(0, 16)
    if (guesses.last.includes(digest)) return refusal
    guesses.last = [...guesses.last, digest].slice(-REPEATED_MAX)
    if (guesses.count <= WRONG_KEYS_MAX - 1) {
      guesses.count++
      return refusal
    }
    if (this.#logged.isDue(network)) this.#log.warn({ address: network }, 'many wrong API keys come from this address')
    return tooMany(guesses)
  }

  /** The present guesses of a network; undefined when there are none. */
  #current(network: string): Guesses | undefined {
    const guesses = this.#networks.get(network)
    if (!guesses) return undefined
    const now = this.#clock.elapsed()
    guesses.count = Math.max(0, guesses.count - (now - guesses.at) / WRONG_KEY_AGAIN_MS)
    guesses.at = now
    if (guesses.count > 0) return guesses
    this.#networks.delete(network)
    return undefined
  }

  #keep(network: string, guesses: Guesses): void {
    this.#networks.delete(network)
    this.#networks.set(network, guesses)
    if (this.#networks.size <= ADDRESSES_MAX) return
    for (const oldest of this.#networks.keys()) {
      this.#networks.delete(oldest)
      return
    }
  }
}

function tooMany({ count }: Guesses): EngineError {
  const retryAfterMs = Math.max(1, Math.ceil((count - (WRONG_KEYS_MAX - 1)) * WRONG_KEY_AGAIN_MS))
  return new EngineError('rate_limited', 'too many wrong API keys came from this address', {
    details: { retryAfterMs },
  })
}

/** Returns an IPv4 address, or the first 64 bits of an IPv6 address: its holder chooses the rest. */
export function networkOf(address = ''): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped) return mapped[1] as string
  const bare = address.split('%', 1)[0] as string
  if (!isIPv6(bare)) return bare
  const [head = '', tail] = bare.split('::') as [string, string?]
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const first = groups(head)
  const zeros = tail === undefined ? 0 : 8 - first.length - groups(tail).length
  const all = [...first, ...Array.from({ length: Math.max(0, zeros) }, () => '0'), ...groups(tail ?? '')]
  return `${all
    .slice(0, 4)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
