// The query parameters of operations that list, read and follow runs.

import { FINGERPRINT_PATTERN, SETTABLE_ERROR_STATES } from '../api/error-groups.ts'
import {
  RUN_KINDS,
  RUN_SORT_KEYS,
  RUN_STATUSES,
  RUN_TYPES,
  type RunFilterName,
  SORT_DIRECTIONS,
  STEP_STATUSES,
  WAITING_KINDS,
} from '../api/values.ts'
import {
  ATTRIBUTE_KEY_CHARS_MAX,
  KEY_CHARS_MAX,
  NAME_CHARS_MAX,
  RUNNER_ID_CHARS_MAX,
  SEARCH_CHARS_MAX,
} from '../wire/bounds.ts'
import { APP_PARAM, CURSOR_PARAM, ID_CHARS_MAX, type QueryParam, type QueryParams, waitParam } from './param.ts'

/** How much of each step a list shows: `summary` leaves out results and stacks. */
const STEP_FIELDS = ['all', 'summary'] as const

/** Most ids of runs in one request. */
const RUN_IDS_MAX = 200

const SINCE_PARAM = {
  kind: 'timestamp',
  description: 'Only runs created at or after this time',
} as const
const UNTIL_PARAM = {
  kind: 'timestamp',
  description: 'Only runs created before this time',
} as const
const FROM_PARAM = {
  kind: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Only entries with a higher `seq` than this',
} as const

const KIND_PARAM = {
  kind: 'enum',
  values: RUN_KINDS,
  description: 'Only runs of handlers (`run`), of failure handlers (`onFailure`), or cleanup runs (`cleanup`)',
} as const

/** Steps in one page without their results; with them, 200. */
const STEP_SUMMARIES_MAX = 2000

/** The topics, for messages and descriptions. */
export const STREAM_TOPICS =
  'runs, events, deliveries, run:ID, run:ID@SEQ, run:ID:STREAM, run:ID:STREAM@OFFSET, bulk:ID'

/** Digits of the largest seq. */
const SEQ_DIGITS_MAX = 16

/** The parameters of the list of runs besides its filters. */
type OrderAndPage = 'sort' | 'dir' | 'limit' | 'cursor' | 'partial' | 'position'

const listRuns = {
  app: APP_PARAM,
  workflow: {
    kind: 'name',
    maxLength: NAME_CHARS_MAX,
    description: 'Only runs of this workflow; `sync-*` matches names that begin with `sync-`, at most 50',
  },
  status: {
    kind: 'enums',
    values: RUN_STATUSES,
    description: 'Only runs of these statuses; `running` also matches `waiting`',
  },
  runType: {
    kind: 'enum',
    values: RUN_TYPES,
    description: 'Only runs started by an event, or by a cron schedule',
  },
  kind: KIND_PARAM,
  eventId: { kind: 'name', maxLength: ID_CHARS_MAX, description: 'Only runs started by this event' },
  replayOf: { kind: 'name', ofRun: true, maxLength: ID_CHARS_MAX, description: 'Only runs forked from this run' },
  parentRunId: {
    kind: 'name',
    ofRun: true,
    maxLength: ID_CHARS_MAX,
    description: 'Only children of this run, and the `onFailure` and `cleanup` runs that follow it',
  },
  root: {
    kind: 'flag',
    description: 'Only runs without a parent: no children, and no `onFailure` and `cleanup` runs',
  },
  waitingFor: {
    kind: 'enum',
    values: WAITING_KINDS,
    description: 'Only runs that wait for this: the `kind` of their `waitingFor`',
  },
  error: {
    kind: 'pattern',
    pattern: FINGERPRINT_PATTERN,
    description: 'Only failed runs whose error has this fingerprint ([Errors](errors.md#fingerprints))',
  },
  runner: { kind: 'name', maxLength: RUNNER_ID_CHARS_MAX, description: 'Only runs that are pinned to this runner' },
  key: { kind: 'name', maxLength: KEY_CHARS_MAX, description: 'Only runs that were started with this key' },
  ids: {
    kind: 'names',
    ofRun: true,
    maxLength: ID_CHARS_MAX,
    maxItems: RUN_IDS_MAX,
    description: 'Only these runs; ids without a run match nothing',
  },
  bulkId: { kind: 'name', maxLength: ID_CHARS_MAX, description: 'Only runs that this bulk job made' },
  attribute: {
    kind: 'attributes',
    description:
      'Only runs with this attribute, as `key:value`; given several times, only runs with all of them. Numbers and booleans are compared as JSON writes them',
  },
  q: {
    kind: 'text',
    maxLength: SEARCH_CHARS_MAX,
    description: 'Only runs whose id, workflow or app contains this text, ignoring case; an empty text filters nothing',
  },
  deep: {
    kind: 'flag',
    description:
      'Extends `q` to the name and id of the event, to the runs that the run was forked from or started by, and to the JSON of input, result, error and attributes, as written or with its escapes resolved; ignored without `q`',
  },
  since: SINCE_PARAM,
  until: UNTIL_PARAM,
  endedSince: { kind: 'timestamp', description: 'Only runs that ended at or after this time' },
  endedUntil: { kind: 'timestamp', description: 'Only runs that ended before this time' },
  partial: {
    kind: 'flag',
    description:
      'A list that reads too many runs to fill a page is answered after 2 s with the runs found by then, and with `X-Next-Cursor` to continue',
  },
  position: {
    kind: 'flag',
    description:
      'Gives the runs that a concurrency limit or a throttle holds their `position`. Of each queue on the page up to 10,000 runs are counted, of more than ten queues 100,000 in all',
  },
  sort: {
    kind: 'enum',
    values: RUN_SORT_KEYS,
    default: 'started',
    description:
      'Sort key; equal runs are sorted by id, in the same direction. `started` is the time of creation; a run without a duration sorts as 0',
  },
  dir: { kind: 'enum', values: SORT_DIRECTIONS, default: 'desc', description: 'Sort direction' },
  limit: { kind: 'integer', minimum: 1, maximum: 200, default: 30, description: 'Rows per page' },
  cursor: CURSOR_PARAM,
} as const satisfies Record<RunFilterName | OrderAndPage, QueryParam>

export const runs = {
  listRuns,

  getRunStats: { app: APP_PARAM, since: SINCE_PARAM, kind: KIND_PARAM },

  listErrors: {
    app: APP_PARAM,
    workflow: { kind: 'name', maxLength: NAME_CHARS_MAX, description: 'Only failures of this workflow' },
    since: {
      kind: 'timestamp',
      description: 'Only runs that failed at or after this time; by default 24 hours before `until`',
    },
    until: { kind: 'timestamp', description: 'Only runs that failed before this time; by default up to now' },
    state: {
      kind: 'enum',
      values: SETTABLE_ERROR_STATES,
      description: 'Only groups in this state; `open` includes groups that have regressed',
    },
    limit: { kind: 'integer', minimum: 1, maximum: 200, default: 100, description: 'Groups' },
    trend: {
      kind: 'integer',
      minimum: 1,
      maximum: 48,
      description: 'Also counts the failures of each group in this many equal spans from `since` to `until`',
    },
    runners: {
      kind: 'integer',
      minimum: 1,
      maximum: 10,
      description: 'Also counts the failures of each group by runner, for this many runners with the most failures',
    },
  },

  getRunResult: { wait: waitParam('How long to wait for the end of the run: `"30s"`, or milliseconds; at most 60 s') },

  listRunLogs: {
    from: { ...FROM_PARAM, default: 0 },
    dir: {
      kind: 'enum',
      values: SORT_DIRECTIONS,
      default: 'asc',
      description: '`asc`: the oldest first; `desc`: the newest first',
    },
    limit: { kind: 'integer', minimum: 1, maximum: 1000, default: 100, description: 'Lines per page' },
  },

  streamRun: { from: FROM_PARAM },

  listRunSteps: {
    status: { kind: 'enums', values: STEP_STATUSES, description: 'Only steps of these statuses' },
    q: {
      kind: 'text',
      maxLength: 256,
      description: 'Only steps whose name contains this text, ignoring case; an empty text filters nothing',
    },
    fields: {
      kind: 'enum',
      values: STEP_FIELDS,
      default: 'all',
      description: '`summary` leaves out `data` and the stacks of errors, and cuts their messages at 200 characters',
    },
    limit: {
      kind: 'integer',
      minimum: 1,
      maximum: STEP_SUMMARIES_MAX,
      description: 'Steps per page; at most 200 unless `fields` is `summary`',
    },
    cursor: CURSOR_PARAM,
  },

  listRunPasses: {
    limit: { kind: 'integer', minimum: 1, maximum: 200, default: 100, description: 'Passes per page' },
    cursor: CURSOR_PARAM,
  },

  getRunBundle: {
    payloads: {
      kind: 'enum',
      values: ['0', '1'],
      default: '1',
      description: '`0`: input, results, data of events and fields of log lines are null',
    },
  },

  streamTopics: {
    topics: {
      kind: 'names',
      required: true,
      maxLength: 'run:'.length + ID_CHARS_MAX + ':'.length + ATTRIBUTE_KEY_CHARS_MAX + '@'.length + SEQ_DIGITS_MAX,
      maxItems: 50,
      description: `What to follow: some of ${STREAM_TOPICS}, separated by commas`,
    },
    app: {
      ...APP_PARAM,
      description: 'Only runs, events and deliveries of this app; not for `run:ID` and `bulk:ID`',
    },
    workflow: {
      kind: 'name',
      maxLength: NAME_CHARS_MAX,
      description: 'Only runs of this workflow; not for `run:ID` and `bulk:ID`',
    },
    every: {
      kind: 'integer',
      minimum: 100,
      maximum: 5000,
      default: 250,
      description: 'Shortest time between two writes of runs, events, deliveries and bulk jobs, in ms',
    },
  },
} as const satisfies Record<string, QueryParams>
