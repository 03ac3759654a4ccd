// The events that a redrive reads (services/event/redrive), as the store returns them.

import type { Event } from '../domain/model/event.ts'

/** Events of one name in a span of time, with which to start a workflow. */
export interface RedriveQuery {
  name: string
  since: number
  until: number
  app: string
  workflow: string
}

/** An event, and whether a run of the workflow was started with it. */
export type RedrivableEvent = Pick<Event, 'id' | 'triggered' | 'erased'> & { position: number; isStarted: boolean }
