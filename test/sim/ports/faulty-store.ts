// The real store as one engine sees it over a bad connection: slow, sometimes failing, sometimes without an answer.
// The real store executes the calls. A commit that stalls for longer than a lease is checked against the guards of that later
// moment.

import type { Unit } from '../../../packages/engine/src/domain/model/change.ts'
import { StaleError } from '../../../packages/engine/src/domain/model/errors.ts'
import type { Claim, DeliveryClaim, Lane, Store } from '../../../packages/engine/src/ports/store.ts'
import type { FaultKind, Faults } from '../core/faults.ts'
import type { SimClock } from '../core/sim-clock.ts'
import type { Trace } from '../core/trace.ts'
import { InjectedFault } from '../core/violation.ts'
import { type Life, never } from './life.ts'

/** Observes the calls that reach the real store. */
export interface StoreTap {
  /** Called just after the unit was applied. */
  applied(unit: Unit): void
  claimedRuns(runs: readonly { id: string }[]): void
  /** Called when a lane of an engine requests this many rows. */
  requested(engine: number, lane: Lane, limit: number): void
}

export interface FaultyStoreDeps {
  inner: Store
  clock: SimClock
  faults: Faults
  trace: Trace
  tap: StoreTap
  life: Life
  /** A planted bug: returns the unit to commit in place of the given one. */
  tamper?: ((unit: Unit) => Unit) | undefined
  /** A planted bug: a wait looks back to the wall-clock time of its run's creation. */
  looksBackByWall?: boolean | undefined
}

interface Line {
  fails?: FaultKind
  slow?: FaultKind
  stalls?: FaultKind
  lost?: FaultKind
}

export class FaultyStore implements Store {
  readonly #deps: FaultyStoreDeps
  /** Calls that have not reached the real store yet. */
  #onTheWay = 0

  constructor(deps: FaultyStoreDeps) {
    this.#deps = deps
  }

  async commit(unit: Unit): Promise<void> {
    const { inner, life, tap, trace, tamper } = this.#deps
    const line = {
      fails: 'commitFails',
      slow: 'commitSlow',
      stalls: 'commitStalls',
      lost: 'commitLost',
    } as const
    await this.#over(line, async () => {
      const what = describe(unit)
      try {
        const committed = tamper ? tamper(unit) : unit
        await (this.#deps.looksBackByWall ? this.#commitByWall(committed) : inner.commit(committed))
        tap.applied(committed)
        trace.add(`engine ${life.no} commits ${what}`)
      } catch (error) {
        trace.add(`engine ${life.no} ${error instanceof StaleError ? 'is stale' : `FAILS (${error})`}: ${what}`)
        throw error
      }
    })
  }

  claimRuns(claim: Claim) {
    const { inner, tap, trace, life } = this.#deps
    tap.requested(life.no, 'runs', claim.limit)
    return this.#over({ fails: 'claimFails', slow: 'readSlow', lost: 'claimLost' }, async () => {
      const claimed = await inner.claimRuns(claim)
      tap.claimedRuns(claimed.map(({ run }) => run))
      for (const { run } of claimed) trace.add(`engine ${life.no} claims ${run.id} fence ${run.fence}`)
      return claimed
    })
  }

  claimDeliveries(claim: DeliveryClaim) {
    const { inner, tap, life } = this.#deps
    tap.requested(life.no, 'deliveries', claim.limit)
    return this.#over({ fails: 'claimFails', slow: 'readSlow', lost: 'claimLost' }, () => inner.claimDeliveries(claim))
  }

  claimTimers(claim: Claim) {
    const { inner, tap, life } = this.#deps
    tap.requested(life.no, 'timers', claim.limit)
    return this.#over({ fails: 'claimFails', slow: 'readSlow', lost: 'claimLost' }, () => inner.claimTimers(claim))
  }

  nextAvailableAt(lane: Lane, after?: number) {
    return this.#read(() => this.#deps.inner.nextAvailableAt(lane, after))
  }

  extendRuns(owner: string, runIds: readonly string[], until: number) {
    const { inner } = this.#deps
    return this.#over({ fails: 'extendFails', slow: 'readSlow' }, () => inner.extendRuns(owner, runIds, until))
  }

  releaseOthers(owner: string, now: number) {
    return this.#deps.inner.releaseOthers(owner, now)
  }

  /** Only the engine that owns the file moves its times. */
  get times() {
    const { inner, life, clock } = this.#deps
    const { times } = inner
    if (!times) return undefined
    return {
      latest: () => times.latest(),
      move: async (moved: Parameters<typeof times.move>[0]) => {
        // The engine's calls reach its writer in order.
        while (this.#onTheWay > 0) await clock.wait(1)
        return life.alive ? times.move(moved) : never<void>()
      },
      wakeStranded: (stranded: Parameters<typeof times.wakeStranded>[0]) =>
        life.alive ? times.wakeStranded(stranded) : never<void>(),
    }
  }

  dropClaims(claims: Parameters<Store['dropClaims']>[0]) {
    return this.#deps.inner.dropClaims(claims)
  }

  prune(pruning: Parameters<Store['prune']>[0]) {
    return this.#deps.inner.prune(pruning)
  }

  prunedUpTo() {
    return this.#deps.inner.prunedUpTo()
  }

  countEnds(ends: Parameters<Store['countEnds']>[0]) {
    return this.#deps.inner.countEnds(ends)
  }

  catalogRevision() {
    return this.#read(() => this.#deps.inner.catalogRevision())
  }

  clusterName() {
    return this.#deps.inner.clusterName()
  }

  tokenKey() {
    return this.#deps.inner.tokenKey()
  }

  areSecretsSealed() {
    return this.#deps.inner.areSecretsSealed()
  }

  loadRun(runId: string) {
    return this.#read(() => this.#deps.inner.loadRun(runId))
  }

  flowRow(id: string) {
    return this.#read(() => this.#deps.inner.flowRow(id))
  }

  budgets(ids: readonly string[]) {
    return this.#read(() => this.#deps.inner.budgets(ids))
  }

  waitingForBudget(query: Parameters<Store['waitingForBudget']>[0]) {
    return this.#read(() => this.#deps.inner.waitingForBudget(query))
  }

  dedupeClaim(key: Parameters<Store['dedupeClaim']>[0]) {
    return this.#read(() => this.#deps.inner.dedupeClaim(key))
  }

  liveRuns(of: Parameters<Store['liveRuns']>[0]) {
    return this.#read(() => this.#deps.inner.liveRuns(of))
  }

  watchers(query: Parameters<Store['watchers']>[0]) {
    return this.#read(() => this.#deps.inner.watchers(query))
  }

  waiters(query: Parameters<Store['waiters']>[0]) {
    return this.#read(() => this.#deps.inner.waiters(query))
  }

  eventsSince(query: Parameters<Store['eventsSince']>[0]) {
    const { looksBackByWall, inner } = this.#deps
    return this.#read(() => (looksBackByWall ? this.#eventsByWall(query) : inner.eventsSince(query)))
  }

  inbox(id: string, without: ReadonlySet<string>) {
    return this.#read(() => this.#deps.inner.inbox(id, without))
  }

  async #eventsByWall(query: Parameters<Store['eventsSince']>[0]) {
    const { inner } = this.#deps
    const from = (await inner.loadRun(query.runId))?.run.createdAt ?? 0
    return (await inner.eventsSince(query)).filter(({ event }) => event.receivedAt >= from)
  }

  /** A wait ignores the events that it does not find. */
  async #commitByWall(unit: Unit): Promise<void> {
    try {
      await this.#deps.inner.commit(unit)
    } catch (error) {
      if (!(error instanceof StaleError) || error.guard.type !== 'events') throw error
      const { guard } = error
      if ((await this.#eventsByWall({ ...guard, limit: 200 })).length > 0) throw error
      await this.#commitByWall({ ...unit, guards: unit.guards.filter(other => other !== guard) })
    }
  }

  catalog() {
    return this.#deps.inner.catalog()
  }

  receiversAccepted(posts: Parameters<Store['receiversAccepted']>[0]) {
    return this.#deps.inner.receiversAccepted(posts)
  }

  lastAcceptedAt(namespace: string, ids: readonly string[]) {
    return this.#deps.inner.lastAcceptedAt(namespace, ids)
  }

  in(namespace: string) {
    return this.#deps.inner.in(namespace)
  }

  get streams() {
    const { streams } = this.#deps.inner
    return {
      heads: (runId: string) => this.#read(() => streams.heads(runId)),
      list: (run: Parameters<typeof streams.list>[0]) => streams.list(run),
      page: (stream: Parameters<typeof streams.page>[0], from: number) => streams.page(stream, from),
      rollbacks: (stream: Parameters<typeof streams.rollbacks>[0]) => streams.rollbacks(stream),
      sizes: (...rows: Parameters<typeof streams.sizes>) => this.#read(() => streams.sizes(...rows)),
    }
  }

  /** Has no faults, because nothing changes keys or namespaces here. */
  get admin() {
    return this.#deps.inner.admin
  }

  ping() {
    return this.#deps.inner.ping()
  }

  /** The store outlives its engines. */
  async close(): Promise<void> {}

  #read<T>(call: () => Promise<T>): Promise<T> {
    return this.#over({ fails: 'readFails', slow: 'readSlow' }, call)
  }

  /** Makes a call over the bad connection. */
  async #over<T>(line: Line, call: () => Promise<T>): Promise<T> {
    const { clock, faults, life } = this.#deps
    if (life.dead || (line.fails === 'claimFails' && !life.alive)) return never()
    const { activity } = clock
    activity.sign()
    this.#onTheWay++
    await this.#pass(line)
    this.#onTheWay--
    if (line.fails && faults.strikes(line.fails)) throw new InjectedFault(line.fails)
    // The call was on its way when the engine died: it may still arrive.
    if (life.dead && line.fails && faults.stream(line.fails).chance(0.5)) return never()
    let answer: Promise<T>
    try {
      const value = await activity.during(call())
      answer = Promise.resolve(value)
    } catch (error) {
      answer = Promise.reject(error)
      answer.catch(() => {})
    }
    const lost = line.lost && faults.strikes(line.lost)
    await this.#pass(line)
    if (life.dead || (line.fails === 'claimFails' && !life.alive)) return never()
    if (lost) throw new InjectedFault(line.lost as string)
    return answer
  }

  /** Delays the call. */
  async #pass({ slow, stalls }: Line): Promise<void> {
    const { clock, faults } = this.#deps
    if (stalls && faults.strikes(stalls)) await clock.wait(faults.stream(stalls).int(5000, 40_000))
    else if (slow && faults.strikes(slow)) await clock.wait(faults.stream(slow).int(1, 100))
  }
}

/** A unit in one line. */
function describe({ changes, guards }: Unit): string {
  const parts = changes.map(change => {
    switch (change.type) {
      case 'run.created':
      case 'run.moved': {
        const { id, status, fence, availableAt } = change.run
        return `${change.type} ${id} ${status} f${fence}${availableAt === undefined ? ' -' : ''}`
      }
      case 'step.recorded':
      case 'step.moved': {
        const { runId, index, name, status, attempt } = change.step
        return `${change.type} ${runId}#${index} ${name} ${status} a${attempt}`
      }
      case 'step.woken':
        return `${change.type} ${change.runId}#${change.stepIndex} ${change.status}`
      case 'run.cancelRequested':
        return `${change.type} ${change.runId}`
      case 'event.recorded':
        return `${change.type} ${change.event.id} ${change.event.name} woke ${change.event.woke}`
      case 'delivery.created':
      case 'delivery.moved':
        return `${change.type} ${change.delivery.id} ${change.delivery.status}`
      case 'control.recorded':
        return `${change.action.action} ${change.action.runId}`
      case 'flow.saved':
        return `${change.type} ${change.row.policy} ${change.row.key}`
      case 'log.written':
        return `log ${change.line.runId} ${change.line.dedupe.slice(-8)}`
      default:
        return change.type
    }
  })
  const run = guards.find(guard => guard.type === 'run')
  return `[${run ? `${run.runId} f${run.fence}: ` : ''}${parts.join('; ')}]`
}
