// Schemas of the groups that failed runs form by their errors, and of the states of these groups.

import Type from 'typebox'
import { count, optionalText, text, timestamp } from '../wire/schema-parts.ts'
import { SETTABLE_ERROR_STATES } from './error-groups.ts'
import { FollowOnKindSchema, RunErrorCodeSchema } from './run-schema.ts'

/** `regressed`: resolved, and a run of the group has failed since. */
const ERROR_STATES = ['open', 'regressed', 'resolved', 'ignored'] as const

const STATE_SET = {
  stateSetAt: Type.Optional(timestamp('When it was resolved or ignored; absent for other groups')),
  stateSetBy: optionalText('Label of the API key that resolved or ignored it, if that key has one'),
}

export const ErrorStateChangeSchema = Type.Object({ state: text(...SETTABLE_ERROR_STATES) })

export const ErrorStateSchema = Type.Object({
  fingerprint: Type.String(),
  state: text(...SETTABLE_ERROR_STATES),
  ...STATE_SET,
})

export const ErrorGroupSchema = Type.Object({
  fingerprint: Type.String({ description: 'Lists the failures as `error` of `GET /runs`' }),
  app: Type.String(),
  workflow: Type.String(),
  kind: FollowOnKindSchema,
  state: Type.Enum([...ERROR_STATES], {
    description: '`regressed`: it was resolved, and a run of the group has failed since',
  }),
  ...STATE_SET,
  stepName: optionalText('The step that failed'),
  code: Type.Optional(RunErrorCodeSchema),
  message: Type.String({ description: 'The message of the last failure, up to 200 characters' }),
  count: count('Failures with the fingerprint'),
  firstAt: timestamp('When the first of them ended'),
  lastAt: timestamp('When the last of them ended'),
  firstSeenAt: timestamp(
    'When the oldest stored run of the group ended, also before `since`: later than `since` for a new group',
  ),
  lastRunId: Type.String(),
  lastRunner: optionalText('The runner that the last run was sent to last'),
  trend: Type.Optional(
    Type.Array(count(), { description: 'Failures in each span of time, the oldest first; with the parameter `trend`' }),
  ),
  runners: Type.Optional(
    Type.Array(
      Type.Object({
        runnerId: Type.String(),
        count: count('Failures whose last pass was sent to the runner'),
        sdkName: optionalText(
          'The SDK that the runner is registered with now; absent for a runner that is no longer registered',
        ),
        version: optionalText('Version of that SDK'),
      }),
      { description: 'The runners of the last passes, the one with most failures first; with the parameter `runners`' },
    ),
  ),
})
