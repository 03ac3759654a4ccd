// Schemas of statistics: runs over time, by workflow, and in facets.

import Type from 'typebox'
import { count, counts, optionalText, text, timestamp } from '../wire/schema-parts.ts'
import { RunErrorCodeSchema, RunStatusSchema } from './run-schema.ts'
import { HOLDING_WAITS, RUN_KINDS, RUN_STATUSES, WAITING_KINDS } from './values.ts'

const ms = (description: string) => Type.Optional(Type.Number({ minimum: 0, description }))

const TALLY = {
  started: count('Runs that were created'),
  succeeded: count('Runs that succeeded'),
  failed: count('Runs that failed'),
  cancelled: count('Runs that were cancelled'),
  p50Ms: ms('Half of the succeeded and failed runs took no longer, ±9 %; absent without such a run'),
  p95Ms: ms('95 % of them took no longer'),
  p99Ms: ms('99 % of them took no longer'),
  queueP95Ms: ms('95 % of the ended runs waited no longer for their first pass'),
}

export const RunSeriesPointSchema = Type.Object({
  at: timestamp('When the span of time begins, in UTC'),
  ...TALLY,
})

export const StepStatsSchema = Type.Object({
  name: Type.String(),
  count: count('Callbacks of the step that ended'),
  totalMs: count('How long they took together'),
  p95Ms: Type.Number({ minimum: 0, description: '95 % of them took no longer' }),
})

const followOns = (description: string) =>
  Type.Object({ succeeded: count(), failed: count(), cancelled: count(), inFlight: count() }, { description })

export const WorkflowStatsSchema = Type.Object({
  app: Type.String(),
  workflow: Type.String(),
  ...TALLY,
  inFlight: count('Runs that have not ended, whenever they were created'),
  held: count('Of these, queued runs that wait for a slot, a throttle, a runner or the resume of their workflow'),
  heldBy: counts(HOLDING_WAITS, 'The held runs by what they wait for'),
  onFailure: followOns('Runs of the failure handler that ended or are in flight; no other number counts them'),
  cleanup: followOns('Cleanup runs that ended or are in flight; no other number counts them'),
  lastFailure: Type.Optional(
    Type.Object({
      runId: Type.String(),
      at: timestamp(),
      stepName: optionalText('The step that failed'),
      code: Type.Optional(RunErrorCodeSchema),
      message: Type.String({ description: 'Up to 200 characters' }),
    }),
  ),
  steps: Type.Array(StepStatsSchema, {
    description: 'The steps that took longest together in the newest 200 ended runs that match, at most 20',
  }),
  trend: Type.Optional(
    Type.Object(
      {
        at: timestamp('When the first span begins; runs from before the window are not in it'),
        spanMs: Type.Integer({ description: 'The length of a span' }),
        started: Type.Array(count(), { description: 'Runs that were created in each span, the oldest first' }),
        failed: Type.Array(count(), { description: 'Runs that failed in each span' }),
      },
      { description: 'The runs over time; with the parameter `trend`' },
    ),
  ),
})

export const RunFacetsSchema = Type.Object({
  status: counts(RUN_STATUSES, 'Runs of each status'),
  app: Type.Array(Type.Object({ app: Type.String(), runs: count() }), { description: 'The 200 largest apps' }),
  workflow: Type.Array(Type.Object({ app: Type.String(), workflow: Type.String(), runs: count() }), {
    description: 'The 200 largest workflows',
  }),
  waitingFor: counts(WAITING_KINDS, 'Runs in flight that wait, by the `kind` of their `waitingFor`'),
  waits: Type.Array(Type.Object({ status: RunStatusSchema, waitingFor: text(...WAITING_KINDS), runs: count() }), {
    description: 'The same by status: a paused run still has what it waited for',
  }),
  kind: counts(RUN_KINDS, 'Runs of handlers, and runs of failure handlers'),
})
