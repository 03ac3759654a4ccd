// `POST /events?dryRun=1` (docs/events.md#dry-runs): decides an event as ingest does, but on stored facts rather than
// assumptions, and commits nothing. Called by the HTTP routes.

import type { DryRunReply } from '@perdure/protocol'
import { type Fanout, type FanoutInput, fanout } from '../../domain/arrival/fanout.ts'
import { Evaluations } from '../../domain/expressions/evaluations.ts'
import type { Event } from '../../domain/model/event.ts'
import { type Assumptions, noAssumptions } from '../../domain/run/assumptions.ts'
import { describeFanout, WOULD_BE_DEDUPED } from '../../domain/why/dry-run.ts'
import type { Core } from '../commit/core.ts'
import { answerQuestion, refreshAssumption } from '../commit/decide-and-commit.ts'
import { decideInTurns } from '../commit/turns.ts'
import { dedupeKey } from './dedupe-claims.ts'
import { arrivedEvent, type IncomingEvent } from './ingest.ts'

/** Maximum decisions while the store keeps changing; the last one is then good enough. */
const DRY_RUN_DECISIONS_MAX = 100
/** A token cannot be given back, so a dry run takes none: it answers as if the limit had one left. */
const ADMITTING_LIMITER = { take: async () => true }

export type DryRunDeps = Pick<Core, 'store' | 'catalog' | 'clock' | 'ids'>

export class DryRun {
  readonly #deps: DryRunDeps

  constructor(deps: DryRunDeps) {
    this.#deps = deps
  }

  /** The effects that the event would have if it were sent now. */
  async send(namespace: string, incoming: IncomingEvent): Promise<DryRunReply> {
    const { store, catalog, clock, ids } = this.#deps
    await catalog.refresh()
    const now = clock.now()
    const dedupe = dedupeKey(namespace, incoming, now)
    if (dedupe && (await store.dedupeClaim(dedupe))) return WOULD_BE_DEDUPED
    const event = arrivedEvent(namespace, incoming, { id: ids.next('evt', now), now })
    return this.#describe({ event, targetApp: incoming.targetApp, pin: incoming.runner, now })
  }

  /** The effects that an event of the log would have if it arrived now. */
  async again({ decided, woke: _, triggered: __, ...event }: Event): Promise<DryRunReply> {
    const { catalog, clock } = this.#deps
    await catalog.refresh()
    const { targetApp, runner: pin, notFor } = decided ?? {}
    return this.#describe({ event, targetApp, pin, notFor, now: clock.now() })
  }

  async #describe(of: Pick<FanoutInput, 'event' | 'targetApp' | 'pin' | 'notFor' | 'now'>): Promise<DryRunReply> {
    const { namespace } = of.event
    // The reply contains the faults; the log is for what really happened.
    const input = { ...of, catalog: this.#deps.catalog.view(namespace), report: () => {} }
    const { decided, assumptions } = await this.#decide(input)
    return decideInTurns(namespace, () => describeFanout({ ...input, assumptions }, decided))
  }

  /** Decides, reads everything that the decision rested on, and decides again until nothing else is needed. */
  async #decide(input: Omit<FanoutInput, 'assumptions'>): Promise<{ decided: Fanout; assumptions: Assumptions }> {
    const { store } = this.#deps
    const assumptions = noAssumptions()
    const { namespace } = input.event
    const evaluations = new Evaluations()
    const decide = () => decideInTurns(namespace, () => fanout({ ...input, assumptions }), evaluations)
    let decided = await decide()
    for (let decisions = 0; decisions < DRY_RUN_DECISIONS_MAX; decisions++) {
      const before = JSON.stringify(decided.guards)
      for (const question of decided.questions)
        await answerQuestion(question, assumptions, { store, limiter: ADMITTING_LIMITER })
      for (const guard of decided.guards) {
        // Runs are read when questions are answered.
        if (guard.type !== 'run' && guard.type !== 'steps') await refreshAssumption(store, assumptions, guard)
      }
      decided = await decide()
      if (decided.questions.length === 0 && JSON.stringify(decided.guards) === before) break
    }
    return { decided, assumptions }
  }
}
