// The columns of a row that name its pass, and when a runner executed an attempt. Steps and frames have them.

import { integer, optional, text } from '../description/column.ts'

export const PASS_COLUMNS = { pass: optional(integer), runner: optional(text), passSentAt: optional(integer) } as const
export const RAN_COLUMNS = { ranAt: optional(integer), ranMs: optional(integer) } as const
