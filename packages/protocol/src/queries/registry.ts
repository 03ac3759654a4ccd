// The query parameters of operations on apps, runners and workflows, and on everything that holds or starts runs.

import { BUFFER_KINDS, LIMIT_KINDS, SCHEDULE_SORTS, SCHEDULE_SOURCES } from '../api/values.ts'
import { KEY_CHARS_MAX, NAME_CHARS_MAX, STEP_LIMIT_NAME_CHARS_MAX } from '../wire/bounds.ts'
import { APP_PARAM, pageParams, type QueryParams, tokenParam } from './param.ts'

const FORCE_PARAM = {
  kind: 'flag',
  description: 'With `1` live runners do not prevent it; runs in flight always do',
} as const

export const registry = {
  listRunners: { app: APP_PARAM },

  listWorkflows: { app: APP_PARAM },

  listDefinitions: pageParams(),

  startRun: {
    token: tokenParam(
      'The reply has a token that reads the run, and is valid for this long: `"1h"`, or milliseconds; from 1 s to 24 h. Not with `dryRun`',
    ),
  },

  deleteWorkflow: { force: FORCE_PARAM },

  deleteApp: { force: FORCE_PARAM },

  listLimits: {
    app: { ...APP_PARAM, description: 'Only runs of this app' },
    workflow: { kind: 'name', maxLength: NAME_CHARS_MAX, description: 'Only runs of this workflow' },
    key: { kind: 'text', maxLength: KEY_CHARS_MAX, description: 'Only limits with this value of their key' },
    name: {
      kind: 'text',
      maxLength: STEP_LIMIT_NAME_CHARS_MAX,
      description: 'With `kind=step`: only limits of this name',
    },
    kind: {
      kind: 'enum',
      values: LIMIT_KINDS,
      description: 'Only limits of this kind; by default concurrency limits and throttles',
    },
    limit: { kind: 'integer', minimum: 1, maximum: 200, default: 100, description: 'Limits' },
  },

  listBuffers: {
    app: APP_PARAM,
    workflow: { kind: 'name', maxLength: NAME_CHARS_MAX, description: 'Only buffers of this workflow' },
    kind: { kind: 'enum', values: BUFFER_KINDS, description: 'Only buffers of this policy' },
    ...pageParams(),
  },

  listSchedules: {
    source: { kind: 'enum', values: SCHEDULE_SOURCES, description: 'Only schedules of this kind' },
    sort: { kind: 'enum', values: SCHEDULE_SORTS, default: 'id', description: 'The order' },
    ...pageParams(),
  },
} as const satisfies Record<string, QueryParams>
