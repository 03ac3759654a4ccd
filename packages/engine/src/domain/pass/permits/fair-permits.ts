// The permits of an engine: how many runs it has under way at once, and which app may take one more. A single namespace may use
// all of them. Passes cannot be ended early, and a namespace without permits must not wait for the passes of others, so a
// reserve beyond the maximum is for namespaces below their share. Owned by services/pass/permits/engine-permits; claims use a
// copy.

/** The runs under way of one app. */
export interface AppPermits {
  namespace: string
  app: string
  taken: number
}

interface NamespacePermits {
  taken: number
  byApp: Map<string, number>
}

/** The reserve, as a multiple of the maximum. */
const RESERVE = 1
/** The part of the reserve for apps whose namespace exceeds its share, because its other apps have all its permits. */
const RESERVE_OF_APPS = RESERVE / 2

export class FairPermits {
  /** The number of permits that anybody may take. */
  readonly max: number
  #taken = 0
  readonly #namespaces = new Map<string, NamespacePermits>()

  constructor(max: number, taken: readonly AppPermits[] = []) {
    this.max = max
    for (const { namespace, app, taken: count } of taken) this.#add(namespace, app, count)
  }

  get taken(): number {
    return this.#taken
  }

  /** The maximum that a namespace without a permit could take now. */
  get room(): number {
    const { max } = this
    return this.#taken < max ? max - this.#taken : Math.max(0, Math.ceil(this.#reserve(RESERVE) / 2))
  }

  takenBy(namespace: string): number {
    return this.#namespaces.get(namespace)?.taken ?? 0
  }

  /** Whether the app may take one more. */
  hasRoom(namespace: string, app: string): boolean {
    const { max } = this
    if (this.#taken < max) return true
    const own = this.#namespaces.get(namespace)
    const share = max / (this.#namespaces.size + (own ? 0 : 1))
    if (isBelow(own?.taken ?? 0, share, this.#reserve(RESERVE))) return true
    // `own` exceeds its share, so it has permits.
    const ofApp = own?.byApp.get(app)
    const shareOfApp = share / ((own?.byApp.size ?? 0) + (ofApp === undefined ? 1 : 0))
    return isBelow(ofApp ?? 0, shareOfApp, this.#reserve(RESERVE_OF_APPS))
  }

  take(namespace: string, app: string): void {
    this.#add(namespace, app, 1)
  }

  giveBack(namespace: string, app: string): void {
    this.#add(namespace, app, -1)
  }

  /** All taken permits, for a copy. */
  list(): AppPermits[] {
    const list: AppPermits[] = []
    for (const [namespace, { byApp }] of this.#namespaces)
      for (const [app, taken] of byApp) list.push({ namespace, app, taken })
    return list
  }

  #reserve(factor: number): number {
    return this.max * (1 + factor) - this.#taken
  }

  #add(namespace: string, app: string, count: number): void {
    this.#taken += count
    let own = this.#namespaces.get(namespace)
    if (!own) {
      own = { taken: 0, byApp: new Map() }
      this.#namespaces.set(namespace, own)
    }
    own.taken += count
    const ofApp = (own.byApp.get(app) ?? 0) + count
    if (ofApp > 0) own.byApp.set(app, ofApp)
    else if (own.taken > 0) own.byApp.delete(app)
    else this.#namespaces.delete(namespace)
  }
}

/**
 * Nobody takes more than half of the remaining reserve, so that something remains for the next one, however many come with
 * passes that hang.
 */
function isBelow(taken: number, share: number, left: number): boolean {
  return taken < share && taken < left / 2
}
