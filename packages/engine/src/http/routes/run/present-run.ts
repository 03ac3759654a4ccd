// Runs on the wire (contract §2.1, decisions "Run").

import { splice } from '../../../domain/text/json-splice.ts'
import type { JsonText } from '../../../domain/text/json-text.ts'
import { runSummary } from '../../../domain/view/run-summary.ts'
import type { RunView } from '../../../ports/store-reads.ts'

export { runSummary }

/** `GET /runs/{id}`: the summary with `input` and `result`. */
export function runText(run: RunView): JsonText {
  return splice(runSummary(run), { input: run.input, result: run.result })
}
