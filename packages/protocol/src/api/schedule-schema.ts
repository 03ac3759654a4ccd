// Schemas of schedules: the crons of workflows, and the schedules that are made through the API.

import Type from 'typebox'
import { count, duration, name, optionalText, text, timestamp } from '../wire/schema-parts.ts'
import { TriggeredSchema } from '../wire/triggered-schema.ts'
import { SendEventSchema } from './event-schema.ts'
import { RunStatusSchema } from './run-schema.ts'
import { CATCH_UPS, SCHEDULE_SOURCES } from './values.ts'

/** The event that a schedule sends at every instant. */
const SentEventSchema = Type.Pick(SendEventSchema, ['name', 'app', 'data'])

const CATCH_UP =
  'Which missed times fire after a time without an engine: the newest (`one`), all, but at most the oldest 999 and the ' +
  'newest (`all`), or only those at most a minute late (`none`)'

export const PutScheduleSchema = Type.Object({
  cron: Type.Optional(Type.String({ maxLength: 256, description: 'Five fields, or six with the seconds first' })),
  every: Type.Optional(
    duration('Instead of `cron`: the interval, at least a second, counted from `startsAt` or creation'),
  ),
  timezone: Type.Optional(name(64, 'IANA zone of `cron`; absent: UTC, or the zone that a leading `TZ=` names')),
  event: SentEventSchema,
  startsAt: Type.Optional(timestamp('It does not fire before this time')),
  endsAt: Type.Optional(timestamp('It does not fire at this time or later')),
  catchUp: Type.Optional(Type.Enum([...CATCH_UPS], { description: `${CATCH_UP}; absent: \`one\`` })),
  ifAbsent: Type.Optional(Type.Boolean({ description: 'Replaces nothing: an id that is in use is `conflict`' })),
  dryRun: Type.Optional(
    Type.Boolean({ description: 'Answers the schedule that the call would make, and stores nothing' }),
  ),
})

const GAP = {
  from: timestamp('The first of them'),
  until: timestamp('The last of them'),
  count: Type.Optional(count('How many there were; 1,000 stands for as many or more')),
  cause: Type.Optional(text('no-engine', 'suspended')),
}

/** A schedule of `GET /schedules`. */
export const ScheduleEntrySchema = Type.Object({
  id: Type.String({
    description: 'As given, or `wf:<app>:<workflow>:<n>` for the n-th cron of a workflow; a colon in the app is `%3A`',
  }),
  source: text(...SCHEDULE_SOURCES),
  cron: optionalText('As registered or given'),
  every: Type.Optional(Type.Integer({ description: 'Milliseconds between two instants' })),
  timezone: optionalText('The zone of `cron`'),
  app: optionalText('Of a schedule of a workflow'),
  workflow: optionalText('The workflow that it starts'),
  event: Type.Optional(SentEventSchema),
  startsAt: Type.Optional(timestamp()),
  endsAt: Type.Optional(timestamp()),
  catchUp: Type.Optional(Type.Enum([...CATCH_UPS], { description: CATCH_UP })),
  paused: Type.Boolean(),
  next: Type.Array(timestamp(), {
    description: 'The next five instants; none while it is paused, or when it has ended',
  }),
  lastAt: Type.Optional(timestamp('When it fired last')),
  lastRunId: optionalText('The first run that it started then'),
  lastEventId: optionalText('The event that it sent then'),
  lastStatus: Type.Optional(RunStatusSchema),
  missed: Type.Optional(
    Type.Object(
      {
        ...GAP,
        earlier: Type.Optional(
          Type.Array(Type.Object(GAP), { description: 'The gaps before, the newest first, nine at most' }),
        ),
      },
      {
        description: 'The newest missed times, because no engine ran or the namespace was suspended',
      },
    ),
  ),
  skipped: Type.Optional(
    Type.Object(
      {
        from: timestamp(),
        until: timestamp(),
        count: count('Number of instants'),
        liveRunId: Type.String({ description: 'The live run of the last of them' }),
      },
      { description: 'The newest scheduled times in a row that started no run, because a singleton had a live run' },
    ),
  ),
  lateMs: Type.Optional(
    Type.Integer({ description: 'How late the schedule is, when its time has passed and it has not fired' }),
  ),
})

/** The effect of firing a schedule by hand. */
export const FireScheduleReplySchema = Type.Object({
  runId: optionalText('The first run that it started'),
  eventId: optionalText('The event that it sent'),
  triggered: Type.Optional(Type.Array(TriggeredSchema)),
})
