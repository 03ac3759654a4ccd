// What the decision about a pass needs besides the run and its outcome.

import type { CatalogView } from './catalog.ts'
import type { Known } from './known.ts'
import type { Report } from './matching.ts'

export interface PassContext {
  now: number
  /** When the pass was sent, and how many steps its memo held settled. */
  sentAt: number
  sentSettled: number
  random(): number
  catalog: CatalogView
  known: Known
  /** Told of filters that could not be evaluated. */
  report: Report
}
