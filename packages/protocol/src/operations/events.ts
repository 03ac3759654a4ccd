// Operations that send and read events.

import Type from 'typebox'
import {
  DryRunReplySchema,
  EventFrameSchema,
  EventRecordSchema,
  SendEventReplySchema,
  SendEventSchema,
} from '../api/schema.ts'
import { NAME_CHARS_MAX } from '../wire/bounds.ts'
import { APP_PARAM, CURSOR_PARAM, type Operation } from './operation.ts'
import {
  SAMPLE_DRY_RUN,
  SAMPLE_EVENT,
  SAMPLE_EVENT_ID,
  SAMPLE_ORDER,
  SAMPLE_SEND,
  SAMPLE_SEND_REPLY,
} from './samples.ts'

export const sendEvent = {
  id: 'sendEvent',
  method: 'POST',
  path: '/events',
  tag: 'events',
  summary: 'Send an event: it wakes the runs that wait for it and starts the workflows that it triggers',
  description:
    'The engine answers after the event and everything it started are on disk. A dry run makes the same decision on the current state, and stores nothing.',
  access: 'event',
  query: { dryRun: { kind: 'flag', description: 'Stores nothing; the reply shows what the event would do' } },
  body: { schema: SendEventSchema, required: true },
  reply: { status: 202, description: 'The effect of the event', schema: SendEventReplySchema },
  otherwise: {
    status: 200,
    description: 'For a dry run: what the event would do',
    schema: DryRunReplySchema,
  },
  errors: [],
  examples: [
    { summary: 'Send an order', body: SAMPLE_SEND, reply: SAMPLE_SEND_REPLY },
    {
      summary: 'Show what an order would do',
      query: { dryRun: '1' },
      body: { name: SAMPLE_EVENT.name, data: SAMPLE_ORDER },
      reply: SAMPLE_DRY_RUN,
      otherwise: true,
    },
  ],
} as const satisfies Operation

export const listEvents = {
  id: 'listEvents',
  method: 'GET',
  path: '/events',
  tag: 'events',
  summary: 'List events, newest first',
  access: 'read',
  query: {
    app: APP_PARAM,
    name: { kind: 'name', maxLength: NAME_CHARS_MAX, description: 'Only events of this name' },
    limit: { kind: 'integer', minimum: 1, maximum: 1000, default: 100, description: 'Rows per page' },
    cursor: CURSOR_PARAM,
  },
  reply: { status: 200, description: 'A page of events', schema: Type.Array(EventRecordSchema), pages: true },
  errors: ['invalid_cursor'],
  examples: [
    { summary: 'The newest orders', query: { name: SAMPLE_EVENT.name, limit: '2' }, reply: [SAMPLE_EVENT] },
  ],
} as const satisfies Operation

export const getEvent = {
  id: 'getEvent',
  method: 'GET',
  path: '/events/{id}',
  tag: 'events',
  summary: 'Read one event',
  access: 'read',
  reply: { status: 200, description: 'The event', schema: EventRecordSchema },
  errors: ['not_found'],
  examples: [{ summary: 'One order', path: { id: SAMPLE_EVENT_ID }, reply: SAMPLE_EVENT }],
} as const satisfies Operation

export const streamEvents = {
  id: 'streamEvents',
  method: 'GET',
  path: '/events/stream',
  tag: 'events',
  summary: 'Follow events as they arrive',
  description:
    'Live from the moment of connecting, best effort: a client that does not keep up is disconnected, and events that it misses until it reconnects are not repeated. `GET /events` is the complete record.',
  access: 'read',
  reply: { status: 200, description: 'Events', schema: EventFrameSchema, stream: true },
  errors: [],
  examples: [{ summary: 'An order arrives', reply: { kind: 'event', ...SAMPLE_EVENT } }],
} as const satisfies Operation
