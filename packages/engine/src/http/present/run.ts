// Runs on the wire (contract §2.1, decisions "Run").

import type { JsonText } from '../../domain/json-text.ts'
import { runSummary } from '../../domain/run-summary.ts'
import { splice } from '../../domain/splice.ts'
import type { RunView } from '../../ports/store.ts'

export { runSummary }

/** `GET /runs/{id}`: the summary with `input` and `result`. */
export function runText(run: RunView): JsonText {
  return splice(runSummary(run), { input: run.input, result: run.result })
}
