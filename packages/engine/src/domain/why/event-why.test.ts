import { expect, test } from 'vitest'
import type { CatalogView } from '../model/catalog.ts'
import type { Event, StartEntry, Triggered } from '../model/event.ts'
import { storedRunId } from '../text/ids.ts'
import { whyAtArrival } from './event-why.ts'

const CATALOG = { triggeredBy: () => [], triggerNames: () => [] } as unknown as CatalogView

test('the id that a caller gave to a run is shown, in fields and sentences', () => {
  const runId = storedRunId({ namespace: 'shop', givenId: 'run_order-17', at: 1000 })
  const entry = { workflow: 'w', app: 'a' }
  const triggered: Triggered[] = [
    { ...entry, workflow: 'skips', skipped: true, liveRunId: runId },
    { ...entry, workflow: 'starts', runId },
  ]
  const event: Event = { id: 'evt_1', namespace: 'shop', name: 'order', receivedAt: 1000, woke: 0, triggered } as Event
  const { workflows } = whyAtArrival(event, CATALOG, [])
  expect(workflows).toEqual([
    {
      ...entry,
      workflow: 'skips',
      outcome: 'skipped',
      liveRunId: 'run_order-17',
      sentence: 'Its singleton skipped the event: run run_order-17 was live.',
    },
    {
      ...entry,
      workflow: 'starts',
      outcome: 'run',
      runId: 'run_order-17',
      sentence: 'It started run run_order-17.',
    },
  ])
})

test('says which runs waited, and what was not kept, in the sentence', () => {
  const event = { id: 'evt_1', namespace: 'shop', name: 'paid', receivedAt: 1000, triggered: [] } as unknown as Event
  const sentenceOf = (woke: number, decided: Event['decided']) =>
    whyAtArrival({ ...event, woke, decided } as Event, CATALOG, []).sentence
  expect(sentenceOf(1, { waited: 3 })).toBe('The event woke 1 of the 3 runs that waited for its name.')
  const unmet: StartEntry[] = [['order', 'shop', 'paid', 'false']]
  expect(sentenceOf(0, { waited: 1, unmet, left: 2 })).toBe(
    'The event started nothing: shop/order: Its filter was false. 1 run waited for "paid" with a condition that it did not meet. 2 more reasons were not kept.',
  )
})
