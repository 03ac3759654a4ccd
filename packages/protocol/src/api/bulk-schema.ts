// Schemas of bulk actions: one action on many runs, as a durable job (docs/concepts.md#many-runs-at-once).

import Type, { type TSchema } from 'typebox'
import {
  APP_NAME_CHARS_MAX,
  ATTRIBUTE_KEY_CHARS_MAX,
  ATTRIBUTE_VALUE_CHARS_MAX,
  ATTRIBUTES_MAX,
  KEY_CHARS_MAX,
  NAME_CHARS_MAX,
  RUNNER_ID_CHARS_MAX,
  SEARCH_CHARS_MAX,
} from '../wire/bounds.ts'
import { count, counts, name, optionalFlag, optionalText, text, timestamp } from '../wire/schema-parts.ts'
import { FINGERPRINT_PATTERN } from './error-groups.ts'
import { RunStatusSchema, RunSummarySchema } from './run-schema.ts'
import {
  BULK_ACTIONS,
  BULK_OUTCOMES,
  RUN_KINDS,
  RUN_STATUSES,
  RUN_TYPES,
  type RunFilterName,
  WAITING_KINDS,
} from './values.ts'

const BULK_STATUSES = ['running', 'stopped', 'done'] as const

/** Most runs that one request names. */
export const BULK_IDS_MAX = 1000
const ID_CHARS_MAX = 128

/** An attribute as lists filter by it: the value begins after the first colon. */
const AttributeFilter = name(ATTRIBUTE_KEY_CHARS_MAX + 1 + ATTRIBUTE_VALUE_CHARS_MAX)

/** The filters of the list that a job lacks: it takes `ids` as a separate member. */
type NotOfBulk = 'ids' | 'bulkId'

export const BulkFilterSchema = Type.Object({
  app: Type.Optional(name(APP_NAME_CHARS_MAX)),
  workflow: Type.Optional(
    name(NAME_CHARS_MAX, 'Only runs of this workflow; `sync-*` matches names that begin with `sync-`, at most 50'),
  ),
  status: Type.Optional(
    Type.Union([RunStatusSchema, Type.Array(RunStatusSchema, { minItems: 1, maxItems: 7 })], {
      description: 'One status or several; `running` also matches waiting',
    }),
  ),
  runType: Type.Optional(text(...RUN_TYPES)),
  since: Type.Optional(timestamp('Only runs created at this time or later')),
  until: Type.Optional(timestamp('Only runs created before this time')),
  endedSince: Type.Optional(timestamp('Only runs that ended at this time or later')),
  endedUntil: Type.Optional(timestamp('Only runs that ended before this time')),
  error: Type.Optional(
    Type.String({
      pattern: FINGERPRINT_PATTERN,
      description: 'Only failed runs with this fingerprint of `GET /errors`',
    }),
  ),
  parentRunId: Type.Optional(name(ID_CHARS_MAX, 'Only children of this run')),
  root: optionalFlag('Only runs without a parent'),
  kind: Type.Optional(text(...RUN_KINDS)),
  eventId: Type.Optional(name(ID_CHARS_MAX, 'Only runs started by this event')),
  replayOf: Type.Optional(name(ID_CHARS_MAX, 'Only runs forked from this run')),
  runner: Type.Optional(name(RUNNER_ID_CHARS_MAX, 'Only runs that are pinned to this runner')),
  key: Type.Optional(name(KEY_CHARS_MAX, 'Only runs that were started with this key')),
  waitingFor: Type.Optional(
    Type.Enum([...WAITING_KINDS], {
      description: 'Only runs that wait for this when the job reaches them: the `kind` of their `waitingFor`',
    }),
  ),
  attribute: Type.Optional(
    Type.Union([AttributeFilter, Type.Array(AttributeFilter, { minItems: 1, maxItems: ATTRIBUTES_MAX })], {
      description: 'One attribute as `key:value`, or several, all of which the run must have',
    }),
  ),
  q: Type.Optional(name(SEARCH_CHARS_MAX, 'Only runs whose id, workflow or app contains this text, ignoring case')),
  deep: optionalFlag('Extends `q`, without which it is refused, as in `GET /runs`'),
} satisfies Record<Exclude<RunFilterName, NotOfBulk>, TSchema>)

/** Either `filter`, with at least one member, or `ids`. */
export const BulkRequestSchema = Type.Object({
  action: text(...BULK_ACTIONS),
  filter: Type.Optional(BulkFilterSchema),
  ids: Type.Optional(
    Type.Array(name(ID_CHARS_MAX), {
      minItems: 1,
      maxItems: BULK_IDS_MAX,
      description: 'The runs; each counts once',
    }),
  ),
  input: Type.Optional(Type.Unknown({ description: 'Input of every new run; only with `replay`' })),
  cleanup: Type.Optional(
    Type.Boolean({ description: 'With `false` no cleanup runs follow; only with `cancel`. Default: true' }),
  ),
  dryRun: Type.Optional(Type.Boolean({ description: 'Counts the runs, and changes nothing' })),
})

export const BulkStartedSchema = Type.Object({ bulkId: Type.String() })

export const BulkPreviewSchema = Type.Object({
  matched: count('Runs that were found, and ids that name no run'),
  eligible: count('Runs whose state allows the action'),
  skipped: count('All others'),
  replayed: Type.Optional(
    count('Eligible runs that were replayed or retried before; only with `replay` and `retry-failed-step`'),
  ),
  sample: Type.Array(RunSummarySchema, { maxItems: 20, description: 'The first of the eligible runs' }),
})

export const BulkSchema = Type.Object({
  id: Type.String(),
  action: text(...BULK_ACTIONS),
  status: text(...BULK_STATUSES),
  filter: Type.Optional(BulkFilterSchema),
  actor: optionalText('Label of the API key that made the call'),
  matched: count(
    'Runs that were found when the job began, and ids that name no run; once it is done, or if it began without a count, those that it reached',
  ),
  done: count('Runs on which the action was carried out'),
  skipped: count('Runs whose state does not allow the action, and ids that name no run'),
  failed: count('Runs on which it failed'),
  createdAt: timestamp(),
  finishedAt: Type.Optional(timestamp()),
})

export const BulkResultSchema = Type.Object({
  runId: Type.String(),
  outcome: text(...BULK_OUTCOMES),
  newRunId: optionalText('The run forked from it'),
  error: optionalText('Why it was skipped or failed'),
})

export const BulkDetailSchema = Type.Object({
  ...BulkSchema.properties,
  newRuns: Type.Optional(
    counts(RUN_STATUSES, 'The runs that the job made, by their status now; only with `replay` and `retry-failed-step`'),
  ),
  results: Type.Array(BulkResultSchema, { description: 'One of each run that was looked at, by run id' }),
  nextCursor: optionalText('Where the next page of results begins'),
})
