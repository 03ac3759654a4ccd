// Runs, log lines and audit entries on the wire (docs/http-api/runs.md#runs). Payloads keep their exact text.

import type { RunStatusFrame, ControlAction as WireControlAction } from '@perdure/protocol'
import type { ShownBudget } from '../../../domain/model/budget/budget.ts'
import type { ControlAction } from '../../../domain/model/control-action.ts'
import type { LogLine } from '../../../domain/model/log-line.ts'
import { shownRunId } from '../../../domain/text/ids.ts'
import { splice } from '../../../domain/text/json-splice.ts'
import type { JsonText } from '../../../domain/text/json-text.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import { type EveryField, runSummary } from '../../../domain/view/run-summary.ts'
import type { RunUpdate } from '../../../domain/view/run-updates.ts'
import type { RunView } from '../../../ports/store-reads.ts'

/** The reply of `GET /runs/{id}`: the summary with the events of its buffer, `input` and `result`. */
export function runText(run: RunView, budget?: ShownBudget): JsonText {
  const { progress } = run
  const shown = progress && splice({ at: timestamp(progress.at) }, { value: progress.value })
  const payloads = { progress: shown, input: run.input, result: run.result }
  const head = { ...runSummary(run), eventIds: run.eventIds, generation: run.generation || undefined, budget }
  return splice(head, payloads)
}

export function logLineText(line: LogLine): JsonText {
  const { seq, ts, tsMs, level, message, scope, attempt, fields } = line
  return splice({ seq, ts: timestamp(ts), tsMs, level, message, scope, attempt }, { fields })
}

export function controlActionText(entry: ControlAction): JsonText {
  const { id, action, runId, newRunId, actor, createdAt, detail } = entry
  const head: EveryField<Omit<WireControlAction, 'detail'>> = {
    id,
    action,
    runId: shownRunId(runId),
    newRunId,
    actor,
    createdAt: timestamp(createdAt),
  }
  return splice(head, { detail })
}

/** The frame of a run on the stream of many runs. */
export function updateFrame({ ts, startedAt, runId, ...update }: RunUpdate): RunStatusFrame {
  const started = startedAt === undefined ? {} : { startedAt: timestamp(startedAt) }
  return { kind: 'run_status', ...update, runId: shownRunId(runId), ts: timestamp(ts), ...started }
}
