// Operations that send and read events.

import * as api from '../api/schema.ts'
import { EVENT_SOURCES } from '../api/values.ts'
import { NAME_CHARS_MAX } from '../wire/bounds.ts'
import { APP_PARAM, CURSOR_PARAM, type Operation, ok, page } from './operation.ts'
import * as sample from './samples.ts'

const PREFIX_PARAM = {
  kind: 'name',
  maxLength: NAME_CHARS_MAX,
  description: 'Only names that begin with this text, in this upper and lower case',
} as const

export const events = {
  sendEvent: {
    method: 'POST',
    path: '/events',
    summary: 'Send an event: it wakes the runs that wait for it and starts the workflows that it triggers',
    description:
      'The engine answers after the event and everything it started are on disk. A dry run makes the same decision on the current state, and stores nothing.',
    access: 'event',
    query: {
      dryRun: { kind: 'flag', description: 'Stores nothing; the reply shows what the event would do' },
    },
    body: { schema: api.SendEventSchema, required: true, anyMembers: true },
    reply: { status: 202, description: 'The effect of the event', schema: api.SendEventReplySchema },
    otherwise: ok('For a dry run: what the event would do', api.DryRunReplySchema),
    examples: [
      { summary: 'Send an order', body: sample.SEND, reply: sample.SEND_REPLY },
      {
        summary: 'Send a reminder that arrives in two hours',
        body: { name: 'order/reminder', data: sample.ORDER, delay: '2h' },
        reply: { eventId: sample.EVENT_ID, at: '2025-03-01T11:00:00.000Z' },
      },
      {
        summary: 'Show what an order would do',
        query: { dryRun: '1' },
        body: { name: sample.EVENT.name, data: sample.ORDER },
        reply: sample.DRY_RUN,
        otherwise: true,
      },
    ],
  },

  listEvents: {
    method: 'GET',
    path: '/events',
    summary: 'List events, newest first',
    access: 'read',
    query: {
      app: APP_PARAM,
      name: { kind: 'name', maxLength: NAME_CHARS_MAX, description: 'Only events of this name' },
      prefix: PREFIX_PARAM,
      source: { kind: 'enum', values: EVENT_SOURCES, description: 'Only events from there' },
      since: { kind: 'timestamp', description: 'Only events that arrived at or after this time' },
      until: { kind: 'timestamp', description: 'Only events that arrived before this time' },
      limit: { kind: 'integer', minimum: 1, maximum: 1000, default: 100, description: 'Rows per page' },
      cursor: CURSOR_PARAM,
    },
    reply: page('A page of events', api.EventRecordSchema),
    errors: ['invalid_cursor'],
    examples: [{ summary: 'The newest orders', query: { name: sample.EVENT.name, limit: '2' }, reply: [sample.EVENT] }],
  },

  listEventNames: {
    method: 'GET',
    path: '/event-names',
    summary: 'List the names that events of the log have, in alphabetical order',
    access: 'read',
    query: {
      prefix: PREFIX_PARAM,
      limit: { kind: 'integer', minimum: 1, maximum: 200, default: 100, description: 'Rows per page' },
      cursor: CURSOR_PARAM,
    },
    reply: page('A page of names', api.EventNameSchema),
    errors: ['invalid_cursor'],
    examples: [
      {
        summary: 'Names of orders',
        query: { prefix: 'order/' },
        reply: [{ name: sample.EVENT.name, lastAt: sample.EVENT.receivedAt, lastEventId: sample.EVENT_ID }],
      },
    ],
  },

  streamEvents: {
    method: 'GET',
    path: '/events/stream',
    summary: 'Follow events as they arrive',
    description:
      'Live from the moment of connecting, best effort: a client that does not keep up is disconnected, and events that it misses until it reconnects are not repeated. `GET /events` is the complete record.',
    access: 'read',
    reply: { status: 200, description: 'Events', schema: api.EventFrameSchema, stream: true },
    examples: [{ summary: 'An order arrives', reply: { kind: 'event', ...sample.EVENT } }],
  },

  listScheduledEvents: {
    method: 'GET',
    path: '/scheduled-events',
    summary: 'List events that have not arrived, the soonest first',
    access: 'read',
    query: {
      limit: { kind: 'integer', minimum: 1, maximum: 200, default: 100, description: 'Rows per page' },
      cursor: CURSOR_PARAM,
    },
    reply: page('A page of scheduled events', api.ScheduledEventSchema),
    errors: ['invalid_cursor'],
    examples: [
      {
        summary: 'The next two',
        query: { limit: '2' },
        reply: [
          {
            id: sample.EVENT_ID,
            name: 'order/reminder',
            at: '2025-03-01T11:00:00.000Z',
            data: sample.ORDER,
            createdAt: '2025-03-01T09:00:00.000Z',
          },
        ],
      },
    ],
  },

  deleteScheduledEvent: {
    method: 'DELETE',
    path: '/scheduled-events/{id}',
    summary: 'Delete an event that has not arrived; its dedupe id stays used',
    access: 'event',
    reply: { status: 204, description: 'It will not arrive' },
    errors: ['not_found'],
    examples: [{ summary: 'Drop a reminder', path: { id: sample.EVENT_ID } }],
  },

  getEvent: {
    method: 'GET',
    path: '/events/{id}',
    summary: 'Read one event',
    access: 'read',
    reply: ok('The event', api.EventRecordSchema),
    errors: ['not_found'],
    examples: [{ summary: 'One order', path: { id: sample.EVENT_ID }, reply: sample.EVENT }],
  },
} as const satisfies Record<string, Operation>
