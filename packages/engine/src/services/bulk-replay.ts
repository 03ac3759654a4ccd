// Bulk replay (contract §4.2): forks every finished run that matches a filter, newest first, up to a ceiling. Called
// by the control service.

import type { BulkReplayReply } from '@perdure/protocol'
import type { Logger } from 'pino'
import type { Unit } from '../domain/change.ts'
import { type Fork, replay } from '../domain/control.ts'
import type { IdSource } from '../domain/ids.ts'
import type { Under } from '../domain/new-run.ts'
import type { Run } from '../domain/run.ts'
import { optionalTimestamp } from '../domain/timestamp.ts'
import type { Clock } from '../ports/clock.ts'
import type { ReplayFilter, Store } from '../ports/store.ts'
import type { Announcer } from './announce.ts'
import type { Act, Actor, Audit } from './audit.ts'

/** Forks a commit: their inputs, a megabyte each at most, are in memory together. */
const BATCH_FORKS = 25

export interface BulkReplayDeps {
  store: Store
  announcer: Announcer
  clock: Clock
  ids: IdSource
  log: Logger
  audit: Audit
  /** Most runs that one call forks. */
  bulkReplayLimit: number
  /** The flow control that a fork of the run is under. */
  under(source: Run): Under
}

export class BulkReplay {
  readonly #deps: BulkReplayDeps

  constructor(deps: BulkReplayDeps) {
    this.#deps = deps
  }

  /** Recorded in the commit of the last batch. What could not be forked is counted, and does not stop the rest. */
  async run(actor: Actor, filter: ReplayFilter): Promise<BulkReplayReply> {
    const { store, audit, bulkReplayLimit } = this.#deps
    // Chosen before the first fork is made, so that no fork of this call is among them.
    const { matched, finished, runIds } = await store.in(actor.namespace).replayable(filter, bulkReplayLimit)
    const counts = { matched, skipped: matched - finished, capped: finished > runIds.length }
    const outcome = (replayed: number, failed: number) => ({ ...counts, replayed, failed })

    let replayed = 0
    let tried = 0
    let recorded = false
    for (const batch of batches(runIds)) {
      const forks = await this.#forks(actor, batch)
      tried += batch.length
      const isLast = tried === runIds.length
      const hoped = outcome(replayed + forks.length, tried - replayed - forks.length)
      replayed += await this.#commitAll(forks, async unit => {
        if (!isLast) return store.commit(unit)
        await audit.commit(actor, unit, told(filter, hoped))
        recorded = true
      })
    }
    const reached = outcome(replayed, tried - replayed)
    if (!recorded) await audit.commit(actor, { guards: [], changes: [] }, told(filter, reached))
    return reached
  }

  /** A fork of each run that is still there. */
  async #forks({ namespace, trace }: Actor, runIds: readonly string[]): Promise<Fork[]> {
    const { store, clock, ids, under } = this.#deps
    const sources = await Promise.all(runIds.map(id => store.in(namespace).run(id)))
    const now = clock.now()
    return sources.flatMap(source => {
      if (!source) return []
      const id = ids.nextAt('run', now)
      return [replay(source, { id, now, input: undefined, under: under(source), trace })]
    })
  }

  /** Answers how many became durable: all in one commit, or, when that fails, those that can alone. */
  async #commitAll(forks: readonly Fork[], commit: (unit: Unit) => Promise<void>): Promise<number> {
    const { store, announcer, log } = this.#deps
    const changes = forks.flatMap(fork => fork.changes)
    try {
      await commit({ guards: [], changes })
      announcer.announce(changes)
      return forks.length
    } catch (error) {
      log.warn({ err: error }, 'a batch of forks was not committed; each is tried alone')
    }
    let committed = 0
    for (const { run, changes } of forks) {
      try {
        await store.commit({ guards: [], changes })
        announcer.announce(changes)
        committed++
      } catch (error) {
        log.error({ err: error, runId: run.replayOf }, 'a run was not replayed')
      }
    }
    return committed
  }
}

function* batches(runIds: readonly string[]): Iterable<string[]> {
  for (let i = 0; i < runIds.length; i += BATCH_FORKS) yield runIds.slice(i, i + BATCH_FORKS)
}

function told({ since, ...filter }: ReplayFilter, outcome: BulkReplayReply): Act {
  const asked = { ...filter, since: optionalTimestamp(since) }
  return { action: 'bulk_replay', detail: JSON.stringify({ filter: asked, ...outcome }) }
}
