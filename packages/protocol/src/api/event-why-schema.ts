// Schemas of the explanation of an event: what it did, and why it started nothing.

import Type from 'typebox'
import { MatchValuesSchema } from '../wire/match-schema.ts'
import { count, optionalFlag, optionalText, text, timestamp } from '../wire/schema-parts.ts'

const OUTCOMES = ['run', 'delivered', 'deduped', 'dropped', 'skipped', 'debounced', 'batched'] as const
const UNTRIGGERED = ['filter', 'other-app', 'suspended', 'no-trigger', 'own-end'] as const

/** The effect of an event at one workflow. */
export const EventVerdictSchema = Type.Object({
  workflow: Type.String(),
  app: Type.String(),
  outcome: {
    ...text(...OUTCOMES, ...UNTRIGGERED),
    description:
      '`filter`: the event did not pass the filter; `other-app`: it was limited to another app; `suspended`: the namespace was; `no-trigger`: the workflow got its trigger later; `own-end`: the event is of the end of a run of the workflow which an event of that name started',
  },
  sentence: Type.String({ description: 'A sentence for people; the wording may change' }),
  runId: optionalText('The run that the event started, or that its burst or batch became'),
  paused: optionalFlag('The workflow was paused: its run waits'),
  trigger: Type.Optional(
    Type.Object(
      { event: Type.String(), if: optionalText(), match: Type.Optional(MatchValuesSchema) },
      {
        description: 'The first trigger for the name; of a decision of the past, only of a filter that was not passed',
      },
    ),
  ),
  error: optionalText('Why the filter could not be evaluated'),
  liveRunId: optionalText('The live run for which a singleton skipped the event, or to which it delivered it'),
  repeatOf: optionalText('The event that used the idempotency key first'),
})

export const EventExplanationSchema = Type.Object({
  eventId: Type.String(),
  name: Type.String(),
  decidedAt: timestamp('When this was decided: when the event arrived, or now'),
  now: Type.Boolean({ description: 'Whether this was decided now, with the current workflows' }),
  sentence: Type.String({ description: 'The explanation for people; the wording may change' }),
  woke: count('Number of waiting runs that the event woke'),
  waited: Type.Optional(count('Number of runs that waited for the name, if not all of them were woken')),
  woken: Type.Optional(
    Type.Array(Type.Object({ runId: Type.String(), stepName: optionalText() }), {
      description: 'The runs that the event woke, and the step that waited; at most 50',
    }),
  ),
  suspended: optionalFlag('The namespace was suspended: no run was started'),
  workflows: Type.Array(EventVerdictSchema, {
    description: 'Each workflow with a trigger for the name, sorted by workflow, then by app',
  }),
  nearest: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Names that current workflows have a trigger for and that are similar to this one, when no workflow has a trigger for this one',
    }),
  ),
  warnings: Type.Optional(
    Type.Array(Type.String(), { description: 'Policies that did not apply because of their key, one sentence each' }),
  ),
  left: Type.Optional(count('Number of entries that were not kept with the event, because there were too many')),
})
