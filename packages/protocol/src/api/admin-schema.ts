// Schemas of the caller, its sessions, the API keys of its namespace, and the engines.

import Type from 'typebox'
import { count, duration, name, optionalText, text, timestamp } from '../wire/schema-parts.ts'
import { KEY_KINDS, SESSION_KINDS } from './values.ts'

const LABEL_CHARS_MAX = 128
const SECRET_CHARS_MAX = 512

const KeyKindSchema = text(...KEY_KINDS)
const SessionKindSchema = text(...SESSION_KINDS)

export const WhoamiSchema = Type.Object({
  namespace: Type.String(),
  kind: KeyKindSchema,
  label: optionalText('Label of the API key, or of the session'),
  expiresAt: Type.Optional(timestamp('When the session ends')),
  open: Type.Boolean({ description: 'No API key was ever created: anyone on the machine may call' }),
  suspended: Type.Boolean({ description: 'No new run starts in the namespace' }),
  version: Type.String(),
  now: timestamp("The engine's time"),
  store: text('sqlite', 'postgres'),
  features: Type.Array(Type.String(), { description: 'The optional parts of the wire protocol that the engine knows' }),
  limits: Type.Object({
    bulkReplay: count('Runs that one bulk replay forks'),
    streams: count('Open streams of the namespace'),
    keyStreams: count('Open streams of one key'),
  }),
})

/** Either a key or a code. */
export const OpenSessionSchema = Type.Object({
  key: Type.Optional(name(SECRET_CHARS_MAX, 'An API key of kind `secret` or `read`')),
  code: Type.Optional(name(SECRET_CHARS_MAX, 'A code from `POST /session/codes`')),
  kind: Type.Optional(SessionKindSchema),
  ttl: Type.Optional(duration('How long the session lasts: 1 minute to 12 hours, 12 hours by default')),
})

export const SessionSchema = Type.Object({
  token: Type.String({ description: 'Sent like an API key; no other reply shows it' }),
  namespace: Type.String(),
  kind: SessionKindSchema,
  label: Type.String(),
  expiresAt: timestamp(),
})

export const MakeSessionCodeSchema = Type.Object({ kind: Type.Optional(SessionKindSchema) })
export const SessionCodeSchema = Type.Object({
  code: Type.String({ description: 'Opens one session; can be used once' }),
  expiresAt: timestamp(),
})

export const ApiKeySchema = Type.Object({
  id: Type.String(),
  label: Type.String(),
  kind: KeyKindSchema,
  source: text('store', 'settings'),
  createdAt: Type.Optional(timestamp('Absent for a key of the settings')),
  lastUsedAt: Type.Optional(timestamp('The minute of its last request')),
  revokedAt: Type.Optional(timestamp()),
  expiresAt: Type.Optional(timestamp('It is refused from this time on; absent: it does not expire')),
})
export const CreateApiKeySchema = Type.Object({
  kind: KeyKindSchema,
  label: Type.Optional(name(LABEL_CHARS_MAX, 'Its name in the audit log; its id by default')),
  expiresAt: Type.Optional(timestamp('It is refused from this time on; absent: it does not expire')),
})
export const ApiKeyWithSecretSchema = Type.Object({ ...ApiKeySchema.properties, key: Type.String() })

/** An engine that uses the store. */
export const EngineSchema = Type.Object({
  id: Type.String({ description: 'Its name among the engines of the store, new at each start' }),
  self: Type.Boolean({ description: 'The engine that answers' }),
  version: Type.String(),
  host: Type.String({ description: 'The name of its machine' }),
  pid: Type.Integer({ description: 'Its process id' }),
  startedAt: timestamp(),
  seenAt: timestamp('The time of its last report; the numbers are of that time'),
  draining: Type.Boolean({ description: 'It is shutting down, and takes no new work' }),
  held: Type.Optional(
    Type.Literal(true, { description: 'It is held: it starts nothing by itself until it is released' }),
  ),
  inFlight: count('Runs that it drives'),
  lanes: Type.Array(
    Type.Object({
      lane: text('runs', 'deliveries', 'timers'),
      inFlight: count('Work of this kind in progress'),
      max: count('The limit of work in progress; runs have a reserve beyond it'),
      lagMs: Type.Optional(
        count('How long the oldest due work in the store has waited, the same for all engines; absent: unknown'),
      ),
    }),
  ),
  sockets: count('Sockets of Connect runners'),
  streams: count('Open streams'),
  checks: Type.Optional(
    Type.Record(Type.String(), text('ok', 'unavailable'), {
      description: 'Whether the store answers, and the services that it uses for its queue and its limiter',
    }),
  ),
  writes: Type.Optional(
    Type.Object(
      {
        commits: count('Units that became durable'),
        requests: count('Units, claims and other work for the writer'),
        batches: count('Batches, which share the requests'),
        pending: count('Requests without an answer so far'),
      },
      { description: 'The writes of the engine since it started' },
    ),
  ),
  queue: Type.Optional({
    ...text('memory', 'database', 'redis'),
    description: 'How it notifies other engines; `memory`: it does not',
  }),
  limiter: Type.Optional({ ...text('memory', 'redis'), description: 'Where rate limits and throttles are counted' }),
  limiterEntries: Type.Optional(count('Counters that a limiter in memory keeps')),
  settings: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description:
        'Its settings by name, as they can be written, with the defaults; without keys and addresses, which may be secret',
    }),
  ),
  removedUpTo: Type.Optional(
    Type.Object(
      { runs: Type.Optional(timestamp()), events: Type.Optional(timestamp()), deliveries: Type.Optional(timestamp()) },
      {
        description:
          'How far retention has removed rows from the store, the same for all engines: older ones may be gone. Absent: unknown',
      },
    ),
  ),
})

/** Longest query of a shared view. */
export const VIEW_QUERY_CHARS_MAX = 2000

export const PutViewSchema = Type.Object({
  name: name(80, 'The name in the menu'),
  query: Type.String({
    maxLength: VIEW_QUERY_CHARS_MAX,
    description: "Query of the console's list of runs, such as `status=failed&since=24h`",
  }),
})

export const ViewSchema = Type.Object({
  id: Type.String(),
  ...PutViewSchema.properties,
  savedAt: timestamp('When it was last saved'),
  savedBy: optionalText('Label of the API key that saved it, if that key has one'),
})
