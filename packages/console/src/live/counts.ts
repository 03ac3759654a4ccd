// The counts next to the sections of the rail: open error groups, runs that are held back, silent runners, and deliveries that
// used all their attempts. All are read once at the start; after that, one cheap read a minute serves all tabs of a browser, and
// the counts take turns.

const READ_MS = 60_000
/** The first page is read earlier. */
const FIRST_READ_MS = 2000
const ANSWER_MS_MAX = 10_000
const HOUR_MS = 3_600_000
/** A count of this size is shown with a plus: there may be more. The overview counts up to the same number. */
const DELIVERIES_MAX = 100
const ERRORS_MAX = 200
/** Kinds of wait that hold a run back. */
export const HELD = ['concurrency', 'throttle', 'runner', 'workflow-paused']

export interface Counts {
  /** `200+` for that many or more. */
  failed?: number | string
  held?: number
  silent?: number
  /** `100+` for that many or more. */
  exhausted?: number | string
}

export interface CountReaderOptions {
  url: string
  token: string | undefined
  now(): number
  onCounts(counts: Counts): void
}

export class CountReader {
  counts: Counts = {}
  readonly #options: CountReaderOptions
  readonly #reads = [() => this.#runs(), () => this.#errors(), () => this.#runners(), () => this.#deliveries()]
  #turn: number | undefined
  #dueAt: number

  constructor(options: CountReaderOptions) {
    this.#options = options
    this.#dueAt = options.now() + FIRST_READ_MS
  }

  /** Reads all counts at first, and later the next one when it is due. Called while a tab is visible. */
  tick(): void {
    const now = this.#options.now()
    if (now < this.#dueAt) return
    this.#dueAt = now + READ_MS
    const isFirst = this.#turn === undefined
    const turn = this.#turn ?? 0
    this.#turn = isFirst ? 0 : (turn + 1) % this.#reads.length
    for (const read of isFirst ? this.#reads : this.#reads.slice(turn, turn + 1)) this.#begin(read)
  }

  /** Reads the count of errors immediately, because somebody changed the state of a group. */
  readErrors(): void {
    this.#begin(() => this.#errors())
  }

  #begin(read: () => Promise<Counts>): void {
    read().then(
      more => {
        this.counts = { ...this.counts, ...more }
        this.#options.onCounts(this.counts)
      },
      // The count stays unchanged; pages show why an engine does not answer.
      () => {},
    )
  }

  async #runs(): Promise<Counts> {
    const since = new Date(this.#options.now() - HOUR_MS).toISOString()
    const { waitingFor } = await this.#get<{ waitingFor: Record<string, number> }>(`/runs/facets?since=${since}`)
    return { held: HELD.reduce((sum, kind) => sum + (waitingFor[kind] ?? 0), 0) }
  }

  async #errors(): Promise<Counts> {
    const since = new Date(this.#options.now() - 24 * HOUR_MS).toISOString()
    const { length } = await this.#get<unknown[]>(`/errors?state=open&since=${since}&limit=${ERRORS_MAX}`)
    return { failed: length < ERRORS_MAX ? length : `${length}+` }
  }

  async #runners(): Promise<Counts> {
    const runners = await this.#get<{ live: boolean }[]>('/runners')
    return { silent: runners.filter(({ live }) => !live).length }
  }

  async #deliveries(): Promise<Counts> {
    const since = new Date(this.#options.now() - 24 * HOUR_MS).toISOString()
    const query = `status=exhausted&since=${since}&limit=${DELIVERIES_MAX}`
    const { length } = await this.#get<unknown[]>(`/webhook-deliveries?${query}`)
    return { exhausted: length < DELIVERIES_MAX ? length : `${length}+` }
  }

  async #get<Answer>(path: string): Promise<Answer> {
    const { url, token } = this.#options
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const request = { headers, cache: 'no-store', credentials: 'omit', referrerPolicy: 'no-referrer' } as const
    const answer = await fetch(url + path, { ...request, signal: AbortSignal.timeout(ANSWER_MS_MAX) })
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`)
    return (await answer.json()) as Answer
  }
}
