// Operations that send and read events.

import Type from 'typebox'
import * as api from '../api/schema.ts'
import { events as queries } from '../queries/events.ts'
import { created, type Operation, ok, page, stream } from './operation.ts'
import * as sample from './samples.ts'

export const events = {
  sendEvent: {
    method: 'POST',
    path: '/events',
    summary: 'Send an event: it wakes the runs that wait for it and starts the workflows that it triggers',
    description:
      'The engine answers after the event and everything it started are on disk. The answer to a repeat of a `dedupeId` is just `deduped`; its headers `X-Event-Id` and `X-Run-Id` name the event that used the id first and the run that it started. A dry run makes the same decision on the current state, and stores nothing.',
    access: 'event',
    readsWith: 'dryRun',
    query: queries.sendEvent,
    body: { schema: api.SendEventSchema, required: true, anyMembers: true },
    reply: { status: 202, description: 'The effect of the event', schema: api.SendEventReplySchema, repeats: true },
    otherwise: ok('For a dry run: what the event would do', api.DryRunReplySchema),
    examples: [
      { summary: 'Send an order', body: sample.SEND, reply: sample.SEND_REPLY },
      {
        summary: 'Send an order and wait for its result',
        query: { wait: '30s' },
        body: sample.SEND,
        reply: { ...sample.SEND_REPLY, run: sample.RUN_RESULT },
      },
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

  sendEvents: {
    method: 'POST',
    path: '/events/batch',
    summary: 'Send up to 1,000 events in one request',
    description:
      'Each event is accepted or refused separately, as `POST /events` would; the body has at most 8 MiB, each event at most 1 MiB. All that were accepted are on disk when the engine answers. Of several events with one dedupe id the first one counts.',
    access: 'event',
    body: { schema: api.SendEventsSchema, required: true, anyMembers: true },
    reply: ok('The replies, in the order of the events', Type.Array(api.BatchedEventReplySchema)),
    errors: ['payload_too_large'],
    examples: [
      {
        summary: 'Send two events, one of which is refused',
        body: [sample.SEND, { name: ' ' }],
        reply: [
          sample.SEND_REPLY,
          { error: { code: 'invalid_request', message: 'name must not be blank', details: { field: 'name' } } },
        ],
      },
    ],
  },

  redriveEvent: {
    method: 'POST',
    path: '/events/{id}/redrive',
    summary: 'Start a workflow with an event of the log',
    description:
      'Always starts one run, whatever the triggers of the workflow are; of its policies only a singleton refuses it, while a run is live. An event that was erased is `conflict`.',
    access: 'secret',
    body: { schema: api.RedriveRequestSchema, required: true },
    reply: created('The new run', api.RunSummarySchema),
    errors: ['not_found', 'conflict', 'already_running', 'namespace_suspended'],
    examples: [
      {
        summary: 'Bill an order that arrived before there was a workflow for it',
        path: { id: sample.EVENT_ID },
        body: { workflow: 'fulfil-order', app: 'shop' },
        reply: { ...sample.STARTED, id: sample.FORK_ID, eventName: sample.EVENT.name, eventId: sample.EVENT_ID },
      },
    ],
  },

  redriveEvents: {
    method: 'POST',
    path: '/events/redrive',
    summary: 'Start a workflow with each event of a name, oldest first, at most 1,000 per call',
    description:
      'An event starts the workflow at most once. The call skips events that already started it, by a trigger or a redrive, and events for which a singleton has a live run, so it can be repeated after any failure.',
    access: 'secret',
    body: { schema: api.BulkRedriveRequestSchema, required: true },
    reply: ok('Counts of the events', api.BulkRedriveReplySchema),
    errors: ['not_found', 'namespace_suspended'],
    examples: [
      {
        summary: 'Every order since nine that did not start the workflow',
        body: { name: sample.EVENT.name, since: '2025-03-01T09:00:00Z', workflow: 'fulfil-order', app: 'shop' },
        reply: { matched: 2, started: 1, skipped: 1, failed: 0, capped: false },
      },
    ],
  },

  listEvents: {
    method: 'GET',
    path: '/events',
    summary: 'List events, newest first',
    access: 'read',
    query: queries.listEvents,
    reply: page('A page of events', api.EventRecordSchema),
    errors: ['invalid_cursor'],
    examples: [{ summary: 'The newest orders', query: { name: sample.EVENT.name, limit: '2' }, reply: [sample.EVENT] }],
  },

  listEventNames: {
    method: 'GET',
    path: '/event-names',
    summary: 'List the names that events of the log have, in alphabetical order',
    access: 'read',
    query: queries.listEventNames,
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
      'Live from the moment of connecting, best effort: a client that does not keep up is disconnected, and events that it misses until it reconnects are not repeated. `GET /events` is the complete record. Where several engines share a store, a `gap` frame says that events of the others may have been lost on the way.',
    access: 'read',
    reply: stream('Events', Type.Union([api.EventFrameSchema, api.GapFrameSchema])),
    examples: [{ summary: 'An order arrives', reply: { kind: 'event', ...sample.EVENT } }],
  },

  explainEvent: {
    method: 'GET',
    path: '/events/{id}/why',
    summary: 'Explain what an event did at each workflow with a trigger for its name, and why it started nothing there',
    description:
      'It shows what was decided when the event arrived. With `now=1` the event is re-evaluated against current workflows and runs, and nothing is stored. A workflow that got its trigger after the event has the outcome `no-trigger`.',
    access: 'read',
    query: queries.explainEvent,
    reply: ok('The explanation', api.EventExplanationSchema),
    errors: ['not_found', 'conflict'],
    examples: [
      {
        summary: 'An order that a filter kept from a second workflow',
        path: { id: sample.EVENT_ID },
        reply: {
          eventId: sample.EVENT_ID,
          name: sample.EVENT.name,
          decidedAt: sample.EVENT.receivedAt,
          now: false,
          sentence: 'The event started 1 run.',
          woke: 0,
          workflows: [
            {
              workflow: 'check-fraud',
              app: 'shop',
              outcome: 'filter',
              sentence: 'Its filter was false.',
              trigger: { event: sample.EVENT.name, if: 'event.data.total > 100000' },
            },
            {
              workflow: 'fulfil-order',
              app: 'shop',
              outcome: 'run',
              sentence: `It started run ${sample.RUN_ID}.`,
              runId: sample.RUN_ID,
            },
          ],
        },
      },
    ],
  },

  listScheduledEvents: {
    method: 'GET',
    path: '/scheduled-events',
    summary: 'List events that have not arrived, the soonest first',
    access: 'read',
    query: queries.listScheduledEvents,
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

  deleteScheduledEvents: {
    method: 'DELETE',
    path: '/scheduled-events',
    summary: 'Delete all events that match a filter and have not arrived; their dedupe ids stay used',
    description:
      'At least one filter must be given. One request deletes at most 10,000 events; then `more` says that some are left.',
    access: 'secret',
    query: queries.deleteScheduledEvents,
    reply: ok('Number of deleted events', api.DeletedScheduledEventsSchema),
    errors: [],
    examples: [
      {
        summary: 'Drop the reminders of a customer',
        query: { name: 'order/reminder', attribute: 'customer:acct-17' },
        reply: { deleted: 2 },
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
