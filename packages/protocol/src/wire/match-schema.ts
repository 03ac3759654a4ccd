// Schemas of `match` (`docs/events.md#match`). They check only the form; `event-match.ts` has the bounds of paths and values.

import Type from 'typebox'
import type { EventMatch, MatchValues } from './event-match.ts'

const Scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])

/** The values that an event must have, by path. */
export const MatchValuesSchema = Type.Unsafe<MatchValues>(
  Type.Record(Type.String(), Scalar, {
    description: 'Values that the event must have, by path, such as `{"data.plan": "pro"}`',
  }),
)

/** The match of a wait or of `cancelOn`. */
export const EventMatchSchema = Type.Unsafe<EventMatch>(
  Type.Union([Type.String(), Type.Array(Type.String()), MatchValuesSchema], {
    description:
      'A path such as `data.orderId` or a list of paths: the same values as in the event that started the run. Or values by path',
  }),
)
