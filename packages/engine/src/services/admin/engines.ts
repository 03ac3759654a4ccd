// Lists the engines that use the store (`GET /engines`). Where engines share it, each writes a report every few seconds; an
// engine that is alone writes nothing, and lists itself. Started and stopped by compose.

import type { EngineReport, EngineSetup, LaneLoad } from '../../ports/engine-reports.ts'
import type { Limiter } from '../../ports/limiter.ts'
import type { Lane, Store } from '../../ports/store.ts'
import type { Core } from '../commit/core.ts'
import { RepeatingTask } from '../support/repeating-task.ts'
import { untilDeadline } from '../support/until-deadline.ts'
import { withDeadline } from '../support/with-deadline.ts'
import { oldestReady } from './gauges.ts'
import type { Health } from './health.ts'

/** Time from one report to the next. */
const REPORT_EVERY_MS = 5000
/** An engine whose last report is older is not listed. */
const ENGINE_SEEN_MS_MAX = 60_000
/** Reports older than this are removed: their engines did not shut down properly. */
const REPORT_KEPT_MS = 3_600_000
/** Oldest check of the dependencies in a listing. */
const CHECK_AGE_MS_MAX = 10_000
/** If the store takes longer, a listing omits how far retention has come. */
const READ_TIMEOUT_MS = 2000
/** Other engines in one listing. */
const OTHERS_MAX = 255

export interface EnginesDeps extends Pick<Core, 'clock' | 'log'> {
  owner: string
  store: Pick<Store, 'engines' | 'nextAvailableAt' | 'prunedUpTo' | 'stats'>
  /** The process that the engine runs in. */
  process: Pick<EngineReport, 'version' | 'host' | 'pid'>
  setup: EngineSetup
  permits: Record<Lane, { readonly inUse: number; readonly max: number }>
  connections: { readonly size: number }
  /** How many streams are open. */
  streams: () => number
  health: Pick<Health, 'isDraining' | 'isHeld' | 'checks' | 'services'>
  limiter: Pick<Limiter, 'entries'>
}

/** An engine with how late each lane of the store is, and how far retention has come there. */
export interface ListedEngine extends Omit<EngineReport, 'lanes'> {
  isSelf: boolean
  lanes: (LaneLoad & { lagMs?: number | undefined })[]
  prunedUpTo: Awaited<ReturnType<Store['prunedUpTo']>> | undefined
}

export class Engines extends RepeatingTask {
  readonly #deps: EnginesDeps
  readonly #startedAt: number
  #hasReported = false

  constructor(deps: EnginesDeps) {
    const { clock, log } = deps
    super({
      clock,
      everyMs: REPORT_EVERY_MS,
      runsAtStart: true,
      run: () => this.#write(),
      onFailure: err =>
        log.error({ err }, 'the report of this engine could not be written; other engines may not list it'),
    })
    this.#deps = deps
    this.#startedAt = clock.now()
  }

  /** Every engine that reported within the last minute, the oldest first. This engine shows its present state. */
  async list(): Promise<ListedEngine[]> {
    const { store, clock, owner } = this.#deps
    const since = clock.now() - ENGINE_SEEN_MS_MAX
    const [checks, reports = [], lags, prunedUpTo] = await Promise.all([
      this.#deps.health.checks(CHECK_AGE_MS_MAX),
      store.engines?.list({ since, limit: OTHERS_MAX + 1 }),
      this.#lags(),
      withDeadline(clock, READ_TIMEOUT_MS, store.prunedUpTo()).catch(() => undefined),
    ])
    const others = reports.filter(({ id }) => id !== owner).slice(0, OTHERS_MAX)
    return [this.#report(checks), ...others]
      .sort((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1))
      .map(report => ({
        ...report,
        isSelf: report.id === owner,
        lanes: report.lanes.map(load => ({ ...load, lagMs: lags.get(load.lane) })),
        prunedUpTo,
      }))
  }

  /** Removes the report, so that other engines no longer list this one. */
  override async stop(deadline?: AbortSignal): Promise<void> {
    await super.stop(deadline)
    const { store, owner } = this.#deps
    if (!this.#hasReported) return
    this.#hasReported = false
    // If the store is unavailable, the report becomes too old by itself.
    const removed = store.engines?.remove(owner).catch(() => {})
    await untilDeadline(removed, deadline)
  }

  async #write(): Promise<void> {
    const { store, clock, health } = this.#deps
    if (!store.engines) return
    this.#hasReported = true
    // A written report shows that the store answers.
    const report = this.#report({ store: 'ok', ...(await health.services()) })
    await store.engines.put(report, clock.now() - REPORT_KEPT_MS)
  }

  #report(checks: EngineReport['checks']): EngineReport {
    const { owner, process, setup, clock, store, permits, connections, streams, health, limiter } = this.#deps
    const stats = store.stats?.()
    const lanes = Object.entries(permits) as [Lane, EnginesDeps['permits'][Lane]][]
    return {
      id: owner,
      ...process,
      ...setup,
      startedAt: this.#startedAt,
      seenAt: clock.now(),
      isDraining: health.isDraining,
      ...(health.isHeld && { isHeld: true as const }),
      lanes: lanes.map(([lane, { inUse, max }]) => ({ lane, inFlight: inUse, max })),
      sockets: connections.size,
      streams: streams(),
      checks,
      limiterEntries: limiter.entries,
      writes: stats && {
        commits: stats.commits,
        requests: stats.requests,
        batches: stats.batches,
        pending: stats.pending,
      },
    }
  }

  /** The lanes belong to the store: all engines have the same lag. */
  async #lags(): Promise<Map<Lane, number | undefined>> {
    const lanes = Object.keys(this.#deps.permits) as Lane[]
    return new Map(
      await Promise.all(lanes.map(async lane => [lane, (await oldestReady(lane, this.#deps)).lagMs] as const)),
    )
  }
}
