// `POST /events?dryRun=1`: decides an event as ingest does, on what is really stored rather than on assumptions, and
// commits nothing.

import type { DryRunReply } from '@perdure/protocol'
import { type Fanout, type FanoutInput, fanout } from '../../domain/arrival/fanout.ts'
import { describeFanout, WOULD_BE_DEDUPED } from '../../domain/explain/dry-run.ts'
import { type Assumptions, noAssumptions } from '../../domain/run/assumptions.ts'
import type { IdSource } from '../../domain/text/ids.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { answerQuestion, refreshAssumption } from '../commit/decide-and-commit.ts'
import { arrivedEvent, dedupeKey, type IncomingEvent } from './ingest.ts'

/** Looks at a store that changes all the while, before the last answer is good enough. */
const LOOKS_MAX = 100
/** A token cannot be given back, so none is taken: what comes behind the limit is told as if there were one. */
const UNTOUCHED = { take: async () => true }

export interface DryRunDeps {
  store: Store
  catalog: Catalog
  clock: Clock
  ids: IdSource
}

export class DryRun {
  readonly #deps: DryRunDeps

  constructor(deps: DryRunDeps) {
    this.#deps = deps
  }

  /** What the event would do if it were sent now. */
  async send(namespace: string, incoming: IncomingEvent): Promise<DryRunReply> {
    const { store, catalog, clock, ids } = this.#deps
    await catalog.refresh()
    const now = clock.now()
    const dedupe = dedupeKey(namespace, incoming, now)
    if (dedupe && (await store.isDeduped(dedupe))) return WOULD_BE_DEDUPED
    const input = {
      event: arrivedEvent(namespace, incoming, { id: ids.next('evt', now), now }),
      targetApp: incoming.targetApp,
      pin: incoming.runner,
      catalog: catalog.view(namespace),
      now,
      // A dry run tells its caller of them; the log is for what really happened.
      report: () => {},
    }
    const { decided, assumptions } = await this.#decide(input)
    return describeFanout({ ...input, assumptions }, decided)
  }

  /** Decides, reads everything the decision was made on, and decides again until it rests on nothing else. */
  async #decide(
    input: Omit<FanoutInput, 'assumptions'>,
  ): Promise<{ decided: Fanout; assumptions: Assumptions }> {
    const { store } = this.#deps
    const assumptions = noAssumptions()
    let decided = fanout({ ...input, assumptions })
    for (let looks = 0; looks < LOOKS_MAX; looks++) {
      const before = JSON.stringify(decided.guards)
      for (const ask of decided.questions)
        await answerQuestion(ask, assumptions, { store, limiter: UNTOUCHED })
      for (const guard of decided.guards) {
        // Runs are read when they are asked for.
        if (guard.type !== 'run' && guard.type !== 'steps') await refreshAssumption(store, assumptions, guard)
      }
      decided = fanout({ ...input, assumptions })
      if (decided.questions.length === 0 && JSON.stringify(decided.guards) === before) break
    }
    return { decided, assumptions }
  }
}
