// Journey 1: an event comes in (contract §4.4). One unit holds its log row, the steps it wakes and the runs it
// starts; the answer is given only when that unit is durable.

import type { SendEventReply } from '@perdure/protocol'
import type { Unit } from '../domain/change.ts'
import { DEDUPE_WINDOW_MS, type Event } from '../domain/event.ts'
import { type Fanout, fanout } from '../domain/fanout.ts'
import type { IdSource } from '../domain/ids.ts'
import type { JsonText } from '../domain/json-text.ts'
import type { Report } from '../domain/matching.ts'
import type { Clock } from '../ports/clock.ts'
import type { Store } from '../ports/store.ts'
import type { Announcer } from './announce.ts'
import { attempt } from './attempt.ts'
import type { Catalog } from './catalog.ts'
import type { Driver } from './drive.ts'

export interface IncomingEvent {
  name: string
  app?: string
  data?: JsonText
  dedupeId?: string
  /** Whose ids `dedupeId` is one of, if not the app's; with a line break in it, as no app has. */
  dedupeScope?: string
  runner?: string
  targetApp?: string
}

export interface IngestDeps {
  store: Store
  catalog: Catalog
  driver: Driver
  announcer: Announcer
  clock: Clock
  ids: IdSource
  /** Told of filters that could not be evaluated. */
  report: Report
}

export class Ingest {
  readonly #deps: IngestDeps

  constructor(deps: IngestDeps) {
    this.#deps = deps
  }

  /** Resolves when the event is durable with everything it set off; a repeated dedupe id sets off nothing. */
  async send(namespace: string, incoming: IncomingEvent): Promise<SendEventReply> {
    const { store, catalog, driver, announcer, clock, ids, report } = this.#deps
    const now = clock.now()
    const { name, app, data, dedupeId, dedupeScope = app ?? '' } = incoming
    const event: Omit<Event, 'woke' | 'triggered'> = {
      namespace,
      id: ids.next('evt', now),
      name,
      source: 'api',
      receivedAt: now,
      ...(app === undefined ? {} : { app }),
      ...(data === undefined ? {} : { data }),
    }
    const admission = driver.admission()
    try {
      const spread = await attempt<Fanout>({
        store,
        decide: known =>
          fanout({
            event,
            targetApp: incoming.targetApp,
            pin: incoming.runner,
            catalog: catalog.view(namespace),
            known,
            now: clock.now(),
            report,
          }),
        unit: spread => {
          const unit: Unit = { guards: spread.guards, changes: [...spread.changes, ...spread.wakes] }
          if (dedupeId !== undefined) addDedupe(unit, { namespace, app: dedupeScope, dedupeId, now })
          admission.admit(unit.changes)
          return unit
        },
        onStale: () => false,
      })
      if (!spread) return { deduped: true }
      announcer.announce([...spread.changes, ...spread.wakes])
      admission.start()
      return reply(event.id, spread)
    } finally {
      admission.end()
    }
  }
}

function addDedupe(unit: Unit, key: { namespace: string; app: string; dedupeId: string; now: number }): void {
  const { now, ...id } = key
  unit.guards.push({ type: 'dedupe', ...key })
  unit.changes.push({ type: 'dedupe.claimed', ...id, expiresAt: now + DEDUPE_WINDOW_MS })
}

function reply(eventId: string, { woke, triggered, suspended }: Fanout): SendEventReply {
  const runId = triggered.find(entry => entry.runId !== undefined)?.runId
  return {
    eventId,
    ...(runId === undefined ? {} : { runId }),
    woke,
    triggered,
    ...(suspended ? { suspended } : {}),
  }
}
