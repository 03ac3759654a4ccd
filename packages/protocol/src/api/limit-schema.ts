// Schemas of flow control: the limits that hold runs back, and the open buffers of debounce and batch.

import Type from 'typebox'
import { count, countOrMore, optionalText, text, timestamp } from '../wire/schema-parts.ts'
import { BUFFER_KINDS } from './values.ts'

const waiting = (description: string) =>
  countOrMore(`${description}; as a text such as \`10000+\` where not all could be counted`)

const common = {
  app: optionalText('Absent for a limit of the namespace'),
  workflow: optionalText('Only for a limit of the workflow'),
  key: optionalText("Value of the limit's key; absent for a limit without one"),
  limit: Type.Integer({ minimum: 1 }),
  oldestAt: Type.Optional(timestamp('When the oldest of the waiting runs was created')),
}

/** A limit that runs hold or wait for, or a run that has the key of a singleton. */
export const LimitStatusSchema = Type.Union([
  Type.Object({
    kind: Type.Literal('concurrency'),
    scope: text('workflow', 'app', 'namespace'),
    ...common,
    hold: Type.Optional(Type.Literal('run', { description: 'Runs keep their slots until they end' })),
    held: count('Runs that have one of the slots'),
    waiting: waiting('Runs that wait for a slot'),
    releasedPerMin: Type.Number({
      minimum: 0,
      description:
        'Runs with a slot that ended, in a minute: of the last ten minutes, or of as long as the newest 2,000 ends of each status reach back',
    }),
    holders: Type.Array(
      Type.Object({
        runId: Type.String(),
        workflow: Type.String(),
        app: Type.String(),
        startedAt: Type.Optional(timestamp()),
      }),
      { description: 'The oldest of the runs that have a slot, at most 10' },
    ),
  }),
  Type.Object({
    kind: Type.Literal('throttle'),
    scope: text('workflow', 'app', 'namespace'),
    ...common,
    periodMs: count('The limit is the number of starts in this time'),
    inLine: waiting('Runs that wait for their start'),
    nextStartAt: Type.Optional(timestamp('When the first of them may start')),
  }),
  Type.Object({
    kind: Type.Literal('singleton'),
    scope: text('workflow'),
    app: Type.String(),
    workflow: Type.String(),
    key: optionalText("Value of the singleton's key; absent for one without a key"),
    runId: Type.String({ description: 'The live run' }),
    createdAt: timestamp(),
    startedAt: Type.Optional(timestamp()),
  }),
  Type.Object({
    kind: Type.Literal('step'),
    scope: text('app'),
    app: Type.String(),
    workflow: optionalText('Always absent: steps of every workflow of the app share the limit'),
    name: Type.String({ description: 'Name of the limit' }),
    key: optionalText('The key that the steps count under; absent for steps without one'),
    limit: Type.Optional(Type.Integer({ minimum: 1, description: 'Absent while no runner registers the limit' })),
    periodMs: Type.Optional(count('The limit is the number of starts in any such time')),
    taken: count('Turns in use: of steps that may have started within the period'),
    waiting: waiting('Steps that wait for their turn'),
    oldestAt: Type.Optional(timestamp('When the longest-waiting step began to wait')),
    nextTurnAt: Type.Optional(timestamp('When the next turn is free, if that is known')),
  }),
])

/** An open buffer: events that wait to become one run. */
export const BufferSchema = Type.Object({
  id: Type.String({ description: 'The same for every buffer of the workflow and key' }),
  kind: text(...BUFFER_KINDS),
  app: Type.String(),
  workflow: Type.String(),
  key: optionalText("Value of the policy's key; absent for a policy without one"),
  count: count('Its events'),
  maxSize: Type.Optional(count('A batch becomes a run when it has this many events')),
  eventName: Type.String({ description: 'Name of the event that the run will name' }),
  firstEventId: Type.String(),
  lastEventId: Type.String(),
  firstAt: timestamp('When its first event arrived'),
  lastAt: timestamp('When its newest event arrived'),
  dueAt: timestamp('When it becomes a run, if no event changes that'),
})

export const FlushBufferReplySchema = Type.Object({ runId: Type.String({ description: 'The run that it became' }) })
