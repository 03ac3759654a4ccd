// Logs mistakes in a workflow's code that a pass reveals, once per run and kind. Called by invoke.ts.
//
// An exact replay calls every stored step again before it calls a new one. A pass that does not runs code that has
// changed since the earlier passes, or code whose path depends on something outside of steps. It shows when the handler does
// nothing more until a new step settles: at the end of a pass, or when a checkpoint reports the new step.

import type { Memo, UncalledStep } from '../pass/memo.ts'
import type { Outcome, Pass } from '../pass/pass.ts'
import { type StepId, stepIdOf } from '../pass/step-ids.ts'
import type { LogBuffer } from '../run/log-buffer.ts'
import { textOf } from '../wire/errors.ts'
import { lossOf } from '../wire/lossy.ts'

/**
 * The scope of these log lines. They cannot have the handler's scope: its lines are numbered, and a line that occurs in
 * some passes only would get the position of another one.
 */
const WARNING_SCOPE = '@replay'
/** Position of each kind of warning. The engine stores each position once, so each kind is logged once per run. */
const POSITIONS = { unawaited: 0, uncalled: 1, loss: 2, stray: 3, unknownReport: 4 }

const NAMES_MAX = 5

/** Logs the warnings of a pass that has ended. */
export function warn(logs: LogBuffer, { pass, memo, outcome }: { pass: Pass; memo: Memo; outcome: Outcome }) {
  const write = (kind: keyof typeof POSITIONS, message: string) =>
    logs.append({ name: WARNING_SCOPE, nextIndex: POSITIONS[kind] }, { level: 'warn', message })
  const { unawaited } = pass
  if (outcome.kind === 'returned' && unawaited.length > 0) {
    const steps = unawaited.length === 1 ? `Step ${list(unawaited)} was` : `Steps ${list(unawaited)} were`
    const what = 'the handler returned without looking at the result, or noticing a failure'
    write('unawaited', `${steps} never awaited: ${what}.`)
  }
  if (outcome.kind === 'returned' && outcome.loss !== undefined) {
    write('loss', `The result of the workflow has ${outcome.loss}.`)
  }
  if (outcome.kind === 'opcodes' && outcome.isStuck) warnOfOtherPath(logs, { pass, memo })
  if (outcome.kind !== 'returned') return
  const uncalled = memo.uncalled()
  if (uncalled.length === 0) return
  write('uncalled', `The handler returned without calling ${counted(uncalled, memo.storedCount)}. ${REASON}`)
}

/** Logs that the handler called new steps and not all stored ones. */
export function warnOfOtherPath(logs: LogBuffer, { pass, memo }: { pass: Pass; memo: Memo }): void {
  const { discovered } = pass
  const uncalled = memo.uncalled()
  if (uncalled.length === 0 || discovered.length === 0) return
  const steps = `the new step${discovered.length === 1 ? '' : 's'} ${list(discovered)}`
  const message = `Expected ${counted(uncalled, memo.storedCount)}, saw ${steps}. ${REASON}`
  logs.append({ name: WARNING_SCOPE, nextIndex: POSITIONS.uncalled }, { level: 'warn', message })
}

/**
 * Logs the parts of a step's result that JSON does not keep. The scope and the position are the same for every use of the
 * name, so the engine stores the line once for each name.
 */
export function warnOfLoss(logs: LogBuffer, { name, hashedId }: StepId, result: unknown): void {
  const loss = lossOf(result)
  if (loss === undefined) return
  const message = `The result of step "${name}" has ${loss}. The handler gets what is stored.`
  logs.append({ name: `${RESULT_SCOPE} ${name}`, stepId: hashedId, nextIndex: 0 }, { level: 'warn', message })
}

/** Logs an error of a promise that nothing awaits, if the pass has not been answered. */
export function warnOfStray(logs: LogBuffer, error: unknown): void {
  const message = `A promise was rejected, and nothing awaits it: ${textOf(error)}`
  logs.append({ name: WARNING_SCOPE, nextIndex: POSITIONS.stray }, { level: 'error', message })
}

/** Logs that the engine does not know attributes and progress, and so stores none. */
export function warnOfUnknownReport(logs: LogBuffer): void {
  const message =
    'This engine does not know attributes and progress of runs: ctx.attributes and ctx.progress have no effect.'
  logs.append({ name: WARNING_SCOPE, nextIndex: POSITIONS.unknownReport }, { level: 'warn', message })
}

/** Beginning of the scope of warnings about the results of a step. */
const RESULT_SCOPE = '@result'

const REASON =
  'Its code has changed since they were stored (a step was renamed, removed or moved), or its path depends on ' +
  'something outside of steps (time, randomness, I/O, shared state).'

/** Lists the uncalled steps. The memo has only hashed ids, so a step is named only if this process has seen its name. */
function counted(uncalled: readonly UncalledStep[], storedCount: number): string {
  const listed = uncalled.slice(0, NAMES_MAX).map(({ hashedId, after }) => {
    const stepId = stepIdOf(hashedId)
    const name = stepId === undefined ? `${hashedId.slice(0, 8)}…` : JSON.stringify(stepId)
    return name + (after === undefined ? '' : `, stored after "${after}"`)
  })
  const more = uncalled.length > NAMES_MAX ? `; and ${uncalled.length - NAMES_MAX} more` : ''
  return `${uncalled.length} of the ${storedCount} stored steps (${listed.join('; ')}${more})`
}

function list(names: readonly string[]): string {
  const listed = names.slice(0, NAMES_MAX).map(name => JSON.stringify(name))
  const more = names.length > NAMES_MAX ? ` and ${names.length - NAMES_MAX} more` : ''
  return listed.join(', ') + more
}
