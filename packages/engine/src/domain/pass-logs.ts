// Which log lines of a pass are stored (contract §2.2): handler lines once although every pass repeats them, step
// lines once per attempt, sensitive fields redacted.

import { ROOT_SCOPE, type RunnerLogLine } from '@perdure/protocol'
import { boundedKey } from './bounded-key.ts'
import type { Draft } from './draft.ts'
import type { LogLine } from './log-line.ts'
import type { Outcome } from './outcome.ts'
import { redactFields } from './redact.ts'
import type { RunState } from './run-state.ts'
import type { Step } from './step.ts'

export function keepLogs(draft: Draft, state: RunState, outcome: Outcome): void {
  if (outcome.logs.length === 0) return
  const idOf = new Map<string, string>()
  if (outcome.kind === 'opcodes') {
    for (const opcode of outcome.opcodes) if (!idOf.has(opcode.name)) idOf.set(opcode.name, opcode.id)
  }
  for (const line of outcome.logs) {
    if (line.scope === ROOT_SCOPE) keepRootLine(draft, line)
    else keepStepLine(draft, state, line, idOf.get(line.scope))
  }
}

/** Replays repeat handler lines from index 0 on: only those beyond the highest stored one are new. */
function keepRootLine(draft: Draft, line: RunnerLogLine): void {
  if (line.index < draft.rootLogged) return
  draft.rootLogged = line.index + 1
  draft.log({ ...told(line), attempt: draft.run.attempt, dedupe: `${ROOT_SCOPE}#${line.index}` })
}

/**
 * A step's line belongs to the attempt of this pass. Scopes are names, which a run may use twice: the id of the
 * step reported in the same pass tells such uses apart.
 */
function keepStepLine(draft: Draft, state: RunState, line: RunnerLogLine, id: string | undefined): void {
  const known = id === undefined ? stepNamed(state, line.scope) : state.steps.get(id)
  const attempt = known?.status === 'retrying' ? known.attempt + 1 : (known?.attempt ?? 1)
  draft.log({
    ...told(line),
    attempt,
    dedupe: stepLineKey(id ?? known?.id ?? line.scope, attempt, line.index),
  })
}

/** `of`: a step's id, or the scope of a line that belongs to none; a scope may be of any length. */
export function stepLineKey(of: string, attempt: number, index: number): string {
  return `${boundedKey(of)}#${attempt}#${index}`
}

function stepNamed(state: RunState, name: string): Step | undefined {
  for (const step of state.open.values()) if (step.name === name) return step
  return undefined
}

function told(line: RunnerLogLine): Pick<LogLine, 'level' | 'message' | 'scope' | 'index' | 'fields'> {
  const { level, message, scope, index } = line
  const fields =
    line.fields && Object.keys(line.fields).length > 0 ? JSON.stringify(redactFields(line.fields)) : undefined
  return { level, message, scope, index, ...(fields === undefined ? {} : { fields }) }
}
