// The table of long payloads that never change, under the id of the row they belong to. The row itself is written again, with all
// its overflow pages, whenever it moves.

import { text, unique } from '../description/column.ts'
import { table } from '../description/table.ts'

interface Payload {
  id: string
  body: string
}

export const PAYLOADS = table<Payload>()('payloads', { fixed: { id: unique(text), body: text } })
