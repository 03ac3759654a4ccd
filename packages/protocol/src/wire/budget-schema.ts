// Schemas of budgets: the limits of a registration, the amounts that an attempt of a step reports, and new limits
// (`docs/budgets.md`).

import Type from 'typebox'
import { ATTRIBUTE_KEY_PATTERN, BUDGET_AMOUNT_MAX, BUDGET_NAMES_MAX, COUNTED_NAMES } from './bounds.ts'

const Name = Type.String({ pattern: ATTRIBUTE_KEY_PATTERN })
const Amount = Type.Number({ minimum: 0, maximum: BUDGET_AMOUNT_MAX })
const bounds = { additionalProperties: false, maxProperties: BUDGET_NAMES_MAX + COUNTED_NAMES.length } as const

/** Limits by name, and in `whenExceeded` what happens to a run beyond them. */
export const BudgetSchema = Type.Record(Name, Type.Union([Amount, Type.Enum(['pause', 'fail'])]), {
  ...bounds,
  maxProperties: bounds.maxProperties + 1,
  description:
    'Limits of a run and all its descendants, by name; the engine counts `steps` and `runs`. With `whenExceeded` a run beyond them is paused (`pause`, the default) or fails (`fail`)',
})

/** Amounts that an attempt of a step reports. */
export const SpentSchema = Type.Record(Name, Amount, {
  ...bounds,
  maxProperties: BUDGET_NAMES_MAX,
  description: 'What the attempt spent, by name: counted for the budgets of the run and of the runs above it',
})

/** New limits; null removes one. */
export const BudgetChangesSchema = Type.Record(Name, Type.Union([Amount, Type.Null()]), {
  ...bounds,
  description: 'New limits by name; null removes a limit. Others stay',
})
