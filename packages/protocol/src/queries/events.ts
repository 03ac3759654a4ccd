// The query parameters of operations that send and read events.

import { DEDUPE_ID_CHARS_MAX } from '../api/event-schema.ts'
import { EVENT_SOURCES } from '../api/values.ts'
import { NAME_CHARS_MAX } from '../wire/bounds.ts'
import { APP_PARAM, pageParams, type QueryParams, tokenParam, waitParam } from './param.ts'

const PREFIX_PARAM = {
  kind: 'name',
  maxLength: NAME_CHARS_MAX,
  description: 'Only names that begin with this text; case-sensitive',
} as const

/** The filters of scheduled events. */
const SCHEDULED_FILTERS = {
  name: { kind: 'name', maxLength: NAME_CHARS_MAX, description: 'Only events of this name' },
  attribute: {
    kind: 'attributes',
    description:
      'Only events that were sent with this attribute, as `key:value`; given several times, only events with all of them',
  },
  key: { kind: 'name', maxLength: DEDUPE_ID_CHARS_MAX, description: 'Only events that were sent with this `dedupeId`' },
} as const

export const events = {
  sendEvent: {
    dryRun: { kind: 'flag', description: 'Stores nothing; the reply shows what the event would do' },
    wait: waitParam(
      'If the event starts exactly one run, how long the reply waits for its end: `"30s"`, or milliseconds; at most 60 s. The reply has `run` if it ended in time. Not with `at` or `delay`',
    ),
    token: tokenParam(
      'If the event starts exactly one run, the reply has a token that reads this run, and is valid for this long: `"1h"`, or milliseconds; from 1 s to 24 h. A run for several events of a debounce or a batch gets none. Not with `at` or `delay`',
    ),
  },

  listEvents: {
    app: APP_PARAM,
    name: { kind: 'name', maxLength: NAME_CHARS_MAX, description: 'Only events of this name' },
    prefix: PREFIX_PARAM,
    source: { kind: 'enum', values: EVENT_SOURCES, description: 'Only events from this source' },
    since: { kind: 'timestamp', description: 'Only events that arrived at or after this time' },
    until: { kind: 'timestamp', description: 'Only events that arrived before this time' },
    ...pageParams({ maximum: 1000 }),
  },

  listEventNames: {
    prefix: PREFIX_PARAM,
    since: { kind: 'timestamp', description: 'Counts the events of each name that arrived at this time or later' },
    ...pageParams(),
  },

  explainEvent: { now: { kind: 'flag', description: 'Re-evaluates the event now' } },

  listScheduledEvents: {
    ...SCHEDULED_FILTERS,
    ...pageParams(),
  },

  deleteScheduledEvents: SCHEDULED_FILTERS,
} as const satisfies Record<string, QueryParams>
