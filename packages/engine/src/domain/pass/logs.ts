// Drafts the log lines of a pass that are stored (docs/concepts.md#logs): handler lines are stored once although every pass
// repeats them, step lines once per attempt, and sensitive fields redacted.

import { hashStepId, positionalStepId, ROOT_SCOPE } from '@perdure/protocol'
import { type LogLine, stepLineKey } from '../model/log-line.ts'
import { nextAttempt, type Step } from '../model/step.ts'
import type { Draft } from '../run/draft.ts'
import { isDue, type RunState } from '../run/state.ts'
import { redactFields } from '../text/redact.ts'
import type { PassLine } from './answer/log-lines.ts'
import type { Outcome } from './answer/outcome.ts'
import type { PassContext } from './opcodes/context.ts'

export function keepLogs(
  draft: Draft,
  state: RunState,
  outcome: Outcome,
  { sentAt, report }: Pick<PassContext, 'sentAt' | 'report'>,
): void {
  const { app, workflow } = draft.run
  const { unread } = outcome
  if (unread) report({ of: { app, workflow }, unread: unread.count, error: unread.problem })
  if (outcome.logs.length === 0) return
  const idOf = new Map<string, string>()
  if (outcome.kind === 'opcodes' || outcome.kind === 'returned') {
    for (const opcode of outcome.opcodes ?? []) if (!idOf.has(opcode.name)) idOf.set(opcode.name, opcode.id)
  }
  for (const line of outcome.logs) {
    if (line.scope === ROOT_SCOPE) {
      keepRootLine(draft, line)
      continue
    }
    const id = idOf.get(line.scope) ?? stepNamed(state, line.scope, sentAt)
    idOf.set(line.scope, id)
    keepStepLine(draft, line, { id, known: state.steps.get(id), sentAt })
  }
}

/** Stores a handler line if its index is above the highest stored one: a replay repeats the lines from index 0. */
function keepRootLine(draft: Draft, line: PassLine): void {
  if (line.index < draft.rootLogged) return
  draft.rootLogged = line.index + 1
  draft.log({ ...storedLine(line), attempt: draft.run.attempt, dedupe: `${ROOT_SCOPE}#${line.index}` })
}

/**
 * Stores a line of a step under the attempt of this pass. If the retry was not due when the pass was sent, the attempt has not
 * begun: the line repeats one of the previous attempt, which a report of this pass has stored.
 */
function keepStepLine(
  draft: Draft,
  line: PassLine,
  { id, known, sentAt }: { id: string; known: Step | undefined; sentAt: number },
): void {
  const hasBegun = known !== undefined && isDue(known, sentAt)
  const attempt = hasBegun ? nextAttempt(known) : (known?.attempt ?? 1)
  draft.log({ ...storedLine(line), attempt, dedupe: stepLineKey(id, attempt, line.index) })
}

/**
 * The id of the step that a scope names, if the step was not reported together with its lines. A run may use a name more than
 * once: the scope means the unsettled step of that name, else the one that a checkpoint of this pass settled, else the next
 * one, which will be reported under the id of its position.
 */
function stepNamed(state: RunState, name: string, sentAt: number): string {
  for (const step of state.open.values()) if (step.name === name) return step.id
  let last: Step | undefined
  for (let use = 0; ; use++) {
    const id = hashStepId(positionalStepId(name, use))
    const step = state.steps.get(id)
    if (!step) return last?.finishedAt !== undefined && last.finishedAt > sentAt ? last.id : id
    last = step
  }
}

function storedLine(line: PassLine): Pick<LogLine, 'level' | 'message' | 'scope' | 'index' | 'fields' | 'tsMs'> {
  return line.fields === undefined ? line : { ...line, fields: redactFields(line.fields) }
}
