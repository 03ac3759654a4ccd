// Bounds claims of runs by the free permits of runners that take only so many invokes at once (Connect's `maxConcurrency`).
// Runs without room stay due in the store. A claim takes as many as there is room for, and the next claim follows when a runner
// has room again. Owned by run-permits.ts.

import { connectUrlOwner } from '../../../domain/model/connect-url.ts'
import { appKey, type Run, type RunnersOfRun, runDestination } from '../../../domain/model/run.ts'
import type { Runner } from '../../../domain/model/workflow.ts'
import { type Clock, every } from '../../../ports/clock.ts'
import type { RunClaim } from '../../../ports/store.ts'
import type { Transport } from '../../../ports/transport.ts'
import type { RunnerPermits } from './runner-permits.ts'

/** How often to look for room that nothing reports: an HTTP runner registered, or is no longer avoided. */
const ROOM_POLL_MS = 1000
/** Maximum destinations that are remembered as full. For further ones, a claim may take runs that are given back at once. */
const FULL_MAX = 1000

export interface ClaimPermitsDeps {
  clock: Clock
  transport: Pick<Transport, 'room' | 'reaches'>
  permits: Pick<RunnerPermits, 'roomOf' | 'fullRunner'>
  /** The live runners of the app. */
  runners(of: { namespace: string; app: string }): readonly Runner[]
  /** Called when runs that a claim left may have room. */
  onRoom(): void
}

interface BoundedApp {
  namespace: string
  app: string
  /** Its runners with a maximum of invokes. */
  urls: Set<string>
}

type Bounds = Required<Pick<RunClaim, 'appRoom' | 'full'>>

export class ClaimPermits {
  readonly #deps: ClaimPermitsDeps
  readonly #apps = new Map<string, BoundedApp>()
  /** Destinations that were full when one of their runs was last tried, though another runner of the app may have room. */
  readonly #full = new Map<string, RunnersOfRun>()
  /** Apps whose runs the last claim may have left for lack of room. */
  #short = new Set<string>()
  #stopPolling: (() => void) | undefined

  constructor(deps: ClaimPermitsDeps) {
    this.#deps = deps
  }

  /** Whether the last claim may have left runs for lack of room. */
  get isShort(): boolean {
    return this.#short.size > 0
  }

  /** Whether runs of the app may be waiting in the store, so that a new one must not go before them. */
  isContested(run: Pick<Run, 'namespace' | 'app'>): boolean {
    return this.#short.size > 0 && this.#short.has(appKey(run))
  }

  /** Records that no runner has room for the run. */
  runWaits(run: Run): void {
    const runner = this.#deps.permits.fullRunner(run)
    if (!runner) return
    this.#note(runner.url)
    const { namespace, app, workflow, runner: pin } = run
    const destination = runDestination(run)
    if (this.#full.size >= FULL_MAX && !this.#full.has(destination))
      this.#full.delete(this.#full.keys().next().value as string)
    this.#full.set(destination, { namespace, app, workflow, ...(pin === undefined ? {} : { runner: pin }) })
  }

  /** The bounds of a claim that is made now. */
  claimBounds(): Bounds {
    const appRoom = new Map<string, number>()
    for (const key of this.#apps.keys()) {
      const room = this.#roomOf(key)
      if (room !== undefined) appRoom.set(key, room)
    }
    for (const [destination, run] of this.#full) if (!this.#deps.permits.fullRunner(run)) this.#full.delete(destination)
    return { appRoom, full: new Set(this.#full.keys()) }
  }

  /** Records that a claim within these bounds took these runs. */
  claimed(runs: readonly Pick<Run, 'namespace' | 'app'>[], { appRoom, full }: Bounds): void {
    if (appRoom.size === 0 && full.size === 0) {
      if (this.#short.size > 0) this.#short = new Set()
      return
    }
    const counts = new Map<string, number>()
    for (const run of runs) counts.set(appKey(run), (counts.get(appKey(run)) ?? 0) + 1)
    const short = [...appRoom].flatMap(([key, room]) => ((counts.get(key) ?? 0) >= room ? key : []))
    for (const run of this.#full.values()) short.push(appKey(run))
    this.#short = new Set(short)
    if (this.isShort) this.#stopPolling ??= every(this.#deps.clock, ROOM_POLL_MS, () => this.#poll())
  }

  /** Records that the runner may have room, or is gone. */
  roomChanged(url: string): void {
    const key = this.#note(url)
    if (key !== undefined && this.#short.has(key) && this.#hasRoom(key)) this.#deps.onRoom()
  }

  stop(): void {
    this.#stopPolling?.()
    this.#stopPolling = undefined
    this.#short = new Set()
  }

  /** Remembers the app of a runner with a maximum of invokes. */
  #note(url: string): string | undefined {
    const owner = connectUrlOwner(url)
    if (!owner) return undefined
    const key = appKey(owner)
    const { transport } = this.#deps
    if (transport.room?.(url) === undefined || transport.reaches?.(url) === false) return key
    const known = this.#apps.get(key)
    if (known) known.urls.add(url)
    else this.#apps.set(key, { ...owner, urls: new Set([url]) })
    return key
  }

  /** The room of the app; undefined if one of its runners takes any number, or none has a socket. */
  #roomOf(key: string): number | undefined {
    const app = this.#apps.get(key)
    if (!app) return undefined
    const { transport, permits, runners } = this.#deps
    let room = 0
    for (const url of app.urls) {
      const own = transport.reaches?.(url) === false ? undefined : permits.roomOf(url)
      if (own === undefined) app.urls.delete(url)
      else room += Math.max(0, own)
    }
    if (app.urls.size === 0) this.#apps.delete(key)
    const takesAny = () => runners(app).some(({ url }) => transport.room?.(url) === undefined)
    return app.urls.size === 0 || takesAny() ? undefined : room
  }

  #hasRoom(key: string): boolean {
    return this.#roomOf(key) !== 0
  }

  #poll(): void {
    if (!this.isShort) this.stop()
    else if ([...this.#short].some(key => this.#hasRoom(key))) this.#deps.onRoom()
  }
}
