// Schemas of the limits that hold runs back.

import Type from 'typebox'
import { count, optionalText, text, timestamp } from '../wire/schema-parts.ts'

const waiting = (description: string) =>
  Type.Union([count(), Type.String({ pattern: '^\\d+\\+$' })], {
    description: `${description}; as a text such as \`10000+\` where not all could be counted`,
  })

const common = {
  app: optionalText('Absent for a limit of the namespace'),
  workflow: optionalText('Only for a limit of the workflow'),
  key: optionalText("Value of the limit's key; absent for a limit without one"),
  limit: Type.Integer({ minimum: 1 }),
  oldestAt: Type.Optional(timestamp('When the oldest of the waiting runs was created')),
}

/** A limit that runs hold or wait for. */
export const LimitStatusSchema = Type.Union([
  Type.Object({
    kind: Type.Literal('concurrency'),
    scope: text('workflow', 'app', 'namespace'),
    ...common,
    held: count('Runs that have one of the places'),
    waiting: waiting('Runs that wait for a place'),
    holders: Type.Array(
      Type.Object({
        runId: Type.String(),
        workflow: Type.String(),
        app: Type.String(),
        startedAt: Type.Optional(timestamp()),
      }),
      { description: 'The oldest of the runs that have a place, at most 10' },
    ),
  }),
  Type.Object({
    kind: Type.Literal('throttle'),
    scope: text('workflow', 'app', 'namespace'),
    ...common,
    periodMs: count('The limit is the number of starts in this time'),
    inLine: waiting('Runs that wait for their start'),
    nextStartAt: Type.Optional(timestamp('When the first of them may start')),
  }),
])
