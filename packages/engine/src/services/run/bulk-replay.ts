// Bulk replay (docs/concepts.md#replay-retry-from-a-step-bulk-replay): forks every finished run that matches a filter,
// newest first, up to a limit. Called by services/run/control.

import type { BulkReplayReply } from '@perdure/protocol'
import { startTogether } from '../../domain/arrival/singleton.ts'
import type { Unit } from '../../domain/model/change.ts'
import type { UnitWithQuestions } from '../../domain/model/decision.ts'
import { invariant } from '../../domain/model/errors.ts'
import type { RunFilter } from '../../domain/model/run.ts'
import { type Fork, replay } from '../../domain/run/control.ts'
import type { JsonText } from '../../domain/text/json-text.ts'
import { shownFilter } from '../../domain/view/run-filter.ts'
import type { Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import { decideInTurns } from '../commit/turns.ts'
import { underOf } from './subject.ts'

/** Forks in one commit. Their inputs, each at most a megabyte, are in memory together. */
const BULK_REPLAY_BATCH = 25
const NOTHING: Unit = { guards: [], changes: [] }

export interface BulkReplayDeps
  extends Pick<Core, 'store' | 'catalog' | 'announcer' | 'clock' | 'ids' | 'log' | 'audit' | 'report'> {
  /** Maximum runs that one call forks. */
  bulkReplayLimit: number
}

/** Runs that were tried, forked, and skipped because a singleton has a live run. */
interface Counts {
  tried: number
  replayed: number
  live: number
}
type Committed = Omit<Counts, 'tried'>

type Started = UnitWithQuestions & { started: Fork[] }

export class BulkReplay {
  readonly #deps: BulkReplayDeps

  constructor(deps: BulkReplayDeps) {
    this.#deps = deps
  }

  /**
   * The audit entry is written with every batch, so it shows how far an interrupted call got. A run that could not be forked is
   * counted, and does not stop the rest.
   */
  async run(actor: Actor, filter: RunFilter, signal?: AbortSignal): Promise<BulkReplayReply> {
    const { store, audit, bulkReplayLimit } = this.#deps
    // Selected before the first fork is made, so that no fork of this call is among them.
    const reads = store.in(actor.namespace)
    const { matched, finished, runIds } = await reads.replayable(filter, bulkReplayLimit, signal)
    const capped = finished > runIds.length
    const unfinished = matched - finished
    const outcome = ({ replayed, live, tried }: Counts): BulkReplayReply => ({
      matched,
      capped,
      replayed,
      skipped: unfinished + live,
      failed: tried - replayed - live,
    })
    const entry = audit.entry(actor, { action: 'bulk_replay' })
    let recorded: JsonText | undefined
    const record = async (unit: Unit, detail: JsonText) => {
      await audit.record(unit, { ...entry, detail })
      recorded = detail
    }

    const counts: Counts = { replayed: 0, live: 0, tried: 0 }
    let now = 0
    for (const batch of batches(runIds)) {
      // Ids begin with their time, and must rise even if the clock is set back.
      now = Math.max(now, this.#deps.clock.now())
      const forks = await this.#forks(actor, batch, now)
      const before = { ...counts, tried: counts.tried + batch.length }
      const after = (committed: Committed) => ({
        ...before,
        replayed: before.replayed + committed.replayed,
        live: before.live + committed.live,
      })
      const committed = await this.#commitAll(forks, unit => {
        const hoped = { replayed: unit.started.length, live: forks.length - unit.started.length }
        return record(unit, detailOf(filter, outcome(after(hoped))))
      })
      Object.assign(counts, after(committed))
      const reached = detailOf(filter, outcome(counts))
      if (recorded !== reached) await record(NOTHING, reached)
    }
    if (recorded === undefined) await record(NOTHING, detailOf(filter, outcome(counts)))
    return outcome(counts)
  }

  /** A fork of each run that still exists, under ids that rise in the same order. */
  async #forks({ namespace, trace }: Actor, runIds: readonly string[], now: number): Promise<Fork[]> {
    const { store, ids } = this.#deps
    const sources = await Promise.all(runIds.map(id => store.in(namespace).run(id)))
    const forks: Fork[] = []
    for (const source of sources) {
      if (!source) continue
      const how = { id: ids.nextAt('run', now), now, input: undefined, under: underOf(this.#deps, source), trace }
      forks.push(await decideInTurns(namespace, () => replay(source, how)))
    }
    return forks
  }

  /** Returns how many became durable: all in one commit or, when that fails, those that can be committed alone. */
  async #commitAll(forks: readonly Fork[], record: (unit: Started) => Promise<void>): Promise<Committed> {
    const { store, log } = this.#deps
    try {
      return await this.#start(forks, record)
    } catch (error) {
      log.warn({ err: error }, 'a batch of forks was not committed; each is tried alone')
    }
    const committed: Committed = { replayed: 0, live: 0 }
    for (const fork of forks) {
      try {
        const { replayed, live } = await this.#start([fork], unit => store.commit(unit))
        committed.replayed += replayed
        committed.live += live
      } catch (error) {
        log.error({ err: error, runId: fork.run.replayOf }, 'a run was not replayed')
      }
    }
    return committed
  }

  /** Starts the forks in one commit, except those for which a singleton has a live run. */
  async #start(forks: readonly Fork[], commit: (unit: Started) => Promise<void>): Promise<Committed> {
    const { store, catalog, clock, announcer } = this.#deps
    const namespace = forks[0]?.run.namespace
    if (namespace === undefined) return { replayed: 0, live: 0 }
    let started: Started | undefined
    await decideAndCommit<Started>({
      store,
      namespace,
      decide: assumptions => {
        const facts = { assumptions, catalog: catalog.view(namespace), now: clock.now() }
        started = startTogether(forks, ({ run }) => ({ ...underOf(this.#deps, run), ...facts }))
        return started
      },
      commit: () => commit(started as Started),
      onStale: () => false,
    })
    invariant(started, 'nothing but a singleton delays a fork')
    announcer.announce(started.changes)
    return { replayed: started.started.length, live: forks.length - started.started.length }
  }
}

function* batches(runIds: readonly string[]): Iterable<string[]> {
  for (let i = 0; i < runIds.length; i += BULK_REPLAY_BATCH) yield runIds.slice(i, i + BULK_REPLAY_BATCH)
}

/** The detail of the audit entry. A bulk replay has at most one status, and shows it as a single value. */
function detailOf(filter: RunFilter, outcome: BulkReplayReply): JsonText {
  return JSON.stringify({ filter: { ...shownFilter(filter), status: filter.status?.[0] }, ...outcome })
}
