// The places where handlers of this process continued after their pass seemed to be stuck: they awaited something outside of
// steps while a step was open. Passes stay open at such places afterwards (docs/steps.md#io-between-steps). Kept in the runner's
// memory.

/** A place in a workflow's code: between the step whose result the handler got last and the step that it called last. */
export interface Place {
  readonly workflow: string
  readonly after: string | undefined
  readonly open: string | undefined
}

/** A pass stays open for twice the longest delay seen, within these bounds. */
const DELAY_MS_MIN = 1_000
const DELAY_MS_MAX = 30_000
/** A long delay is extended by at most this much, because an event that arrives waits in the meantime. */
const SLACK_MS_MAX = 5_000

const PLACES_MAX = 1_000
/** Maximum number of runs whose log gets a line with their next pass. */
const WARNINGS_MAX = 1_000

export class LatePlaces {
  /** Milliseconds for which passes stay open, by the key of the place. */
  readonly #delays = new Map<string, number>()
  readonly #workflows = new Set<string>()
  readonly #warnings = new Map<string, string>()
  readonly #firstDelayMs: number

  /** `firstDelayMs`: how long a pass stays open at a place where no pass has been before. */
  constructor({ firstDelayMs = 0 }: { firstDelayMs?: number } = {}) {
    this.#firstDelayMs = firstDelayMs
  }

  /** Whether passes of the workflow may have to stay open anywhere. */
  concern(workflow: string): boolean {
    return this.#firstDelayMs > 0 || this.#workflows.has(workflow)
  }

  /** Returns how long a pass that seems to be stuck stays open. */
  delayMs(place: Place): number {
    const key = keyOf(place)
    const known = this.#delays.get(key)
    if (known === undefined && this.#firstDelayMs > 0) {
      this.#keep(key, 0)
      return this.#firstDelayMs
    }
    return known ?? 0
  }

  /** Notes that a handler continued after this delay. Returns whether it is the first at this place. */
  wentOn(place: Place, delayMs: number): boolean {
    const key = keyOf(place)
    const before = this.#delays.get(key) ?? 0
    const ms = Math.max(DELAY_MS_MIN, Math.min(2 * delayMs, delayMs + SLACK_MS_MAX, DELAY_MS_MAX))
    this.#keep(key, Math.max(before, ms))
    this.#workflows.add(place.workflow)
    return before === 0
  }

  /** Keeps a line for the log of the run, for its next pass. */
  warnLater(runId: string, message: string): void {
    keepNewest(this.#warnings, runId, message, WARNINGS_MAX)
  }

  takeWarning(runId: string): string | undefined {
    if (this.#warnings.size === 0) return undefined
    const message = this.#warnings.get(runId)
    this.#warnings.delete(runId)
    return message
  }

  #keep(key: string, ms: number): void {
    keepNewest(this.#delays, key, ms, PLACES_MAX)
  }
}

/** Names that differ only by a number, as in a loop, are one place. */
function keyOf({ workflow, after = '', open = '' }: Place): string {
  return `${workflow}\n${after}\n${open}`.replace(/\d+/g, '#')
}

function keepNewest<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > most && oldest !== undefined) map.delete(oldest)
}
