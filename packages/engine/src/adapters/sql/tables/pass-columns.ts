// The columns that name a row's pass, and when a runner executed an attempt. Steps and frames have them.

import { integer, optional, since, text } from '../description/column.ts'

export const PASS_COLUMNS = {
  pass: since(2, optional(integer)),
  runner: since(2, optional(text)),
  passSentAt: since(2, optional(integer)),
} as const
export const RAN_COLUMNS = { ranAt: since(2, optional(integer)), ranMs: since(2, optional(integer)) } as const
