// Gathers the facts that explain an event of the log (`GET /events/{id}/why`): its record, the names of the steps that it woke,
// and a dry run that shows how it would be decided now. Called by the HTTP routes.

import type { EventExplanation } from '@perdure/protocol'
import { EngineError } from '../../domain/model/errors.ts'
import type { Event } from '../../domain/model/event.ts'
import { shownRunId } from '../../domain/text/ids.ts'
import { type WokenStep, whyAtArrival, whyNow } from '../../domain/why/event-why.ts'
import type { Core } from '../commit/core.ts'
import type { DryRun } from './dry-run.ts'

export interface EventWhyDeps extends Pick<Core, 'store' | 'catalog' | 'clock'> {
  dryRun: DryRun
}

export class EventWhy {
  readonly #deps: EventWhyDeps

  constructor(deps: EventWhyDeps) {
    this.#deps = deps
  }

  /** The decision that was made when the event arrived. */
  async atArrival(event: Event): Promise<EventExplanation> {
    const { catalog } = this.#deps
    await catalog.refresh()
    return whyAtArrival(event, catalog.view(event.namespace), await this.#woken(event))
  }

  /** The effect that the event would have now; for a signal, the effect that it had. Nothing is stored. */
  async now(event: Event): Promise<EventExplanation> {
    if (event.runId !== undefined) return this.atArrival(event)
    const { catalog, clock, dryRun } = this.#deps
    if (event.erased)
      throw new EngineError('conflict', 'the payload of the event was erased, so it cannot be decided again')
    const at = clock.now()
    const reply = await dryRun.again(event)
    return whyNow(event, catalog.view(event.namespace), { reply, at })
  }

  /** The steps that waited for the event. A step of a removed run has no name. */
  async #woken({ namespace, decided }: Event): Promise<WokenStep[]> {
    const reads = this.#deps.store.in(namespace)
    const named = (decided?.woken ?? []).map(async ([runId, stepIndex]) => {
      const [step] = await reads.steps(runId, { after: stepIndex - 1, limit: 1, withoutData: true })
      return { runId: shownRunId(runId), ...(step?.index === stepIndex ? { stepName: step.name } : {}) }
    })
    return Promise.all(named)
  }
}
