// The query parameters of operations that count runs.

import { RUN_KINDS, RUN_STATUSES, WAITING_KINDS } from '../api/values.ts'
import { NAME_CHARS_MAX } from '../wire/bounds.ts'
import { APP_PARAM, type QueryParams, SPAN_PARAMS } from './param.ts'

const WORKFLOW_PARAM = { kind: 'name', maxLength: NAME_CHARS_MAX, description: 'Only runs of this workflow' } as const

export const statistics = {
  getRunSeries: {
    ...SPAN_PARAMS,
    app: APP_PARAM,
    workflow: WORKFLOW_PARAM,
  },

  getWorkflowStats: {
    since: { kind: 'timestamp', description: 'Counts from this time; by default from 24 hours ago' },
    until: { kind: 'timestamp', description: 'Counts up to this time; by default up to now' },
    app: APP_PARAM,
    workflow: WORKFLOW_PARAM,
    limit: { kind: 'integer', minimum: 1, maximum: 200, default: 100, description: 'Workflows' },
    trend: {
      kind: 'integer',
      minimum: 1,
      maximum: 48,
      description:
        'Also counts the runs of each workflow over time, in at most this many spans: the shortest of 5 or 15 minutes, 1, 3 or 6 hours, or days that fit the window',
    },
  },

  getRunFacets: {
    since: { kind: 'timestamp', description: 'Only runs that ended at or after this time, or are in flight' },
    until: {
      kind: 'timestamp',
      description: 'Only runs that ended before this time, or were created in the window and are in flight',
    },
    app: APP_PARAM,
    workflow: WORKFLOW_PARAM,
    status: {
      kind: 'enums',
      values: RUN_STATUSES,
      description: 'Only runs of these statuses, in all counts but those by status; `running` also matches `waiting`',
    },
    waitingFor: {
      kind: 'enum',
      values: WAITING_KINDS,
      description: 'Only runs that wait for this, in all counts but those by what runs wait for',
    },
    kind: {
      kind: 'enum',
      values: RUN_KINDS,
      description:
        'Only runs of handlers (`run`), of failure handlers (`onFailure`) or cleanup runs (`cleanup`), in all counts but those by kind',
    },
  },
} as const satisfies Record<string, QueryParams>
