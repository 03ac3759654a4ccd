// The query parameters of operations that list actions on runs, by whom and by which job, and of answers to updates.

import { BULK_OUTCOMES, CONTROL_ACTIONS } from '../api/values.ts'
import { CURSOR_PARAM, ID_CHARS_MAX, pageParams, type QueryParams, waitParam } from './param.ts'

/** Longest label of an API key. */
const LABEL_CHARS_MAX = 128

const ANSWER_WAIT = waitParam('How long to wait for the answer: `"20s"`, or milliseconds; at most 60 s')

export const control = {
  listControlActions: {
    action: { kind: 'enum', values: CONTROL_ACTIONS, description: 'Only actions of this kind' },
    runId: {
      kind: 'name',
      ofRun: true,
      maxLength: ID_CHARS_MAX,
      description: 'Only actions on this run, or that created it as a fork',
    },
    actor: { kind: 'name', maxLength: LABEL_CHARS_MAX, description: 'Only actions of the API key with this label' },
    since: { kind: 'timestamp', description: 'Only actions at or after this time' },
    until: { kind: 'timestamp', description: 'Only actions before this time' },
    cursor: CURSOR_PARAM,
    limit: {
      kind: 'integer',
      minimum: 1,
      maximum: 1000,
      default: 100,
      description: 'Maximum number of entries',
    },
  },

  updateRun: { wait: ANSWER_WAIT },
  getRunUpdate: { wait: ANSWER_WAIT },

  listBulks: pageParams(),

  getBulk: {
    outcome: { kind: 'enum', values: BULK_OUTCOMES, description: 'Only results with this outcome' },
    ...pageParams(),
  },

  listApiKeys: pageParams({ description: 'Maximum number of keys' }),
} as const satisfies Record<string, QueryParams>
