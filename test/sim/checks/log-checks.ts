// Checks log lines at the end of a simulation: a line is stored once per run, scope, attempt and index, a line of the
// handler once per run, and no line of a committed pass is missing (docs/promises.md#logs-streams-lists).

import type { LogLine } from '../../../packages/engine/src/domain/model/log-line.ts'
import { ensure, same } from '../core/violation.ts'
import { mayAnswerLate, type RunRecord } from './record.ts'
import type { Snapshot } from './snapshot.ts'
import { tokenOf } from './step-checks.ts'

/** The engine's own lines: about signals and events that a run left unused, and events that singletons skipped. */
const OF_ENGINE = /^(The run ended |Event ")/

export function checkLogs(all: Snapshot): void {
  for (const record of all.runs.values()) {
    const lines = all.logs.get(record.id) ?? []
    checkOnce(record.id, lines)
    checkFrames(record, lines)
    checkComplete(all, record, lines)
  }
}

function checkOnce(runId: string, lines: readonly LogLine[]): void {
  const seen = new Set<string>()
  let last = 0
  for (const line of lines) {
    const detail = () => `${runId}: ${JSON.stringify(line)}`
    ensure(line.seq > last, 'log lines come in seq order', detail, [runId])
    last = line.seq
    // The engine's own lines have separate indexes.
    if (OF_ENGINE.test(line.message)) continue
    // Execution tokens are unique, so an equal message is the same line.
    const key = line.scope === '@root' ? `@root ${line.index}` : `${line.message} ${line.index}`
    ensure(!seen.has(key), 'a log line is stored once', detail, [runId])
    seen.add(key)
    if (line.scope === '@root') continue
    // The token identifies the step among steps of one name.
    const step = `${line.message.split('|')[1]} ${line.attempt} ${line.index}`
    ensure(!seen.has(step), 'one line per scope, attempt and index', detail, [runId])
    seen.add(step)
  }
}

function checkFrames({ id, frames }: RunRecord, lines: readonly LogLine[]): void {
  const framed = frames.flatMap(frame => (frame.kind === 'log' ? [[frame.seq, frame.message, frame.attempt]] : []))
  ensure(
    same(
      framed,
      lines.map(({ seq, message, attempt }) => [seq, message, attempt]),
    ),
    'every log line has its frame',
    () => `${id}: ${JSON.stringify(framed)}: ${JSON.stringify(lines)}`,
    [id],
  )
}

function checkComplete(
  { runnerRecord }: Snapshot,
  { id, run, steps, wall }: RunRecord,
  lines: readonly LogLine[],
): void {
  const token = tokenOf(run?.result)
  const pass = token === undefined ? undefined : runnerRecord.passes(id).find(({ returned }) => returned === token)
  const ofHandler = lines.filter(({ scope, message }) => scope === '@root' && !OF_ENGINE.test(message))
  const roots = ofHandler.map(({ message }) => message)
  const expected = pass?.rootLines.map(({ message }) => message)
  ensure(
    !expected || same(roots, expected),
    "a handler's lines are all stored",
    () => `${id}: ${roots}, expected ${expected}`,
    [id],
  )
  for (const step of steps) {
    if (step.op !== 'StepRun' || step.status !== 'succeeded' || step.carried) continue
    // An answer after the end stores only results.
    const isLate = wall.wasSet || (step.finishedAt ?? 0) >= (run?.finishedAt ?? Infinity)
    if (isLate && mayAnswerLate(run)) continue
    const executed = runnerRecord.executions(id, step.id).find(execution => execution.token === tokenOf(step.data))
    for (const line of executed?.lines ?? []) {
      const stored = lines.find(each => each.message === line.message && each.index === line.index)
      ensure(
        stored?.attempt === step.attempt && stored.scope === step.name,
        "a step's lines are stored with its result",
        () => `${id}#${step.index} attempt ${step.attempt}: ${JSON.stringify(line)} as ${JSON.stringify(stored)}`,
        [id],
      )
    }
  }
}
