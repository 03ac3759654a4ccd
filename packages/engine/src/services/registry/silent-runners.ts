// Forgets runners that were silent for longer than a day and have no pinned run, a bounded number at a time. Started by
// compose. Several engines may do this on one store: a runner that another engine heard from meanwhile stays.

import type { Guard, Unit } from '../../domain/model/change.ts'
import { isConnectUrl } from '../../domain/model/connect-url.ts'
import { StaleError } from '../../domain/model/errors.ts'
import type { Runner } from '../../domain/model/workflow.ts'
import { RUNNER_SILENCE_MS_MAX, silentRunners } from '../../domain/registry/silent-runners.ts'
import type { Presence } from '../../ports/connections.ts'
import type { RunnerHealth } from '../catalog/runner-health.ts'
import type { Core } from '../commit/core.ts'
import { RepeatingTask } from '../support/repeating-task.ts'

const SILENT_RUNNERS_EVERY_MS = 60_000
/** Maximum runners in one commit, and commits in one run of the task. */
const SILENT_BATCH_MAX = 100
const SILENT_BATCHES_MAX = 10
/**
 * No runner is forgotten before the engine has looked this often without a leap of time. After a start, or when the machine has
 * slept, existing runners register in between.
 */
const SILENT_LOOKS_MIN = 5
/** Time from one look to the next that counts as a leap, by either clock. */
const SILENT_LEAP_MS = 3 * SILENT_RUNNERS_EVERY_MS
/** A Connect runner writes nothing to the store while its socket is open, so its row is renewed when it is this old. */
const CONNECTED_RENEW_MS = 60 * 60_000

export interface SilentRunnersDeps extends Pick<Core, 'store' | 'catalog' | 'clock' | 'log'> {
  presence: Pick<Presence, 'reaches'>
  health: Pick<RunnerHealth, 'arrived'>
  /** A runner that is not stale is never forgotten. */
  staleAfterMs: number
}

export class SilentRunners extends RepeatingTask {
  readonly #deps: SilentRunnersDeps
  /** The time of the last look by both clocks, and the looks since the last leap. */
  #last: { wall: number; elapsed: number }
  #looks = 0

  constructor(deps: SilentRunnersDeps) {
    const { clock, log } = deps
    super({
      clock,
      everyMs: SILENT_RUNNERS_EVERY_MS,
      run: () => this.#look(),
      onFailure: err => log.error({ err }, 'silent runners could not be removed'),
    })
    this.#deps = deps
    this.#last = this.#moment()
  }

  async #look(): Promise<void> {
    const { clock, presence, log, staleAfterMs } = this.#deps
    const runners = this.#deps.catalog.allRunners()
    const now = clock.now()
    const isConnected = ({ url }: Runner) => isConnectUrl(url) && presence.reaches(url)
    const old = runners.filter(({ lastSeenAt }) => now - lastSeenAt >= CONNECTED_RENEW_MS)
    await this.#inBatches(old.filter(isConnected), runner => renewal(runner, now))
    if (!this.#hasListened()) return
    const seenSince = now - Math.max(RUNNER_SILENCE_MS_MAX, staleAfterMs)
    const silent = [...byApp(runners).values()].flatMap(app => silentRunners(app, { seenSince, isConnected }))
    const forgotten = await this.#inBatches(silent, forgetting)
    if (forgotten > 0) log.info({ runners: forgotten }, 'runners that were silent for more than a day were removed')
  }

  /** False for a while after the start and after every leap of time, when all runners seem silent. */
  #hasListened(): boolean {
    const { wall, elapsed } = this.#last
    this.#last = this.#moment()
    const passedMs = Math.max(this.#last.wall - wall, this.#last.elapsed - elapsed)
    this.#looks = passedMs > SILENT_LEAP_MS ? 0 : this.#looks + 1
    return this.#looks >= SILENT_LOOKS_MIN
  }

  #moment(): { wall: number; elapsed: number } {
    const { clock } = this.#deps
    return { wall: clock.now(), elapsed: clock.elapsed() }
  }

  /** Commits a unit for each runner, many together, and returns for how many. The rest is left to the next run. */
  async #inBatches(runners: readonly Runner[], unitOf: (runner: Runner) => Unit): Promise<number> {
    let count = 0
    for (let i = 0; i < SILENT_BATCHES_MAX && !this.stopped.aborted; i++) {
      const batch = runners.slice(i * SILENT_BATCH_MAX, (i + 1) * SILENT_BATCH_MAX)
      if (batch.length === 0) break
      count += await this.#commit(batch, unitOf)
    }
    return count
  }

  /** Commits the units, except those of runners that have registered, or got a pinned run, since the decision. */
  async #commit(batch: readonly Runner[], unitOf: (runner: Runner) => Unit): Promise<number> {
    const { store, catalog, health } = this.#deps
    for (let rest = batch; rest.length > 0; ) {
      const units = rest.map(unitOf)
      const changes = units.flatMap(unit => unit.changes)
      try {
        await store.commit({ guards: units.flatMap(({ guards }) => guards), changes })
        catalog.apply(changes)
        for (const runner of rest) health.arrived(runner)
        return rest.length
      } catch (error) {
        if (!(error instanceof StaleError)) throw error
        const { guard } = error
        rest = rest.filter(runner => !isAbout(guard, runner))
      }
    }
    return 0
  }
}

function forgetting({ namespace, app, runnerId, lastSeenAt }: Runner): Unit {
  return {
    guards: [
      { type: 'runner', namespace, app, runnerId, lastSeenAt },
      { type: 'unpinned', namespace, app, runnerId },
    ],
    changes: [{ type: 'runner.forgotten', namespace, app, runnerId }],
  }
}

function renewal(runner: Runner, now: number): Unit {
  const { namespace, app, runnerId, lastSeenAt } = runner
  return {
    guards: [{ type: 'runner', namespace, app, runnerId, lastSeenAt }],
    changes: [{ type: 'runner.registered', runner: { ...runner, lastSeenAt: now }, isRepeat: true }],
  }
}

function isAbout(guard: Guard, { namespace, app, runnerId }: Runner): boolean {
  if (guard.type !== 'runner' && guard.type !== 'unpinned') return false
  return guard.namespace === namespace && guard.app === app && guard.runnerId === runnerId
}

function byApp(runners: readonly Runner[]): Map<string, Runner[]> {
  const apps = new Map<string, Runner[]>()
  for (const runner of runners) {
    const key = `${runner.namespace}\n${runner.app}`
    const app = apps.get(key)
    if (app) app.push(runner)
    else apps.set(key, [runner])
  }
  return apps
}
