// Logs mistakes in a workflow's code that a pass reveals, once per run and kind. Called by invoke.ts.
//
// An exact replay calls every stored step again before it calls a new one. A pass that does not is running code that has changed
// since the earlier passes, or code whose path depends on something outside of steps. This shows when the handler does nothing
// more until a new step settles: at the end of a pass, or when a checkpoint reports the new step.

import type { Memo, UncalledStep } from '../pass/memo.ts'
import type { Outcome } from '../pass/outcome.ts'
import type { Pass } from '../pass/pass.ts'
import { type StepId, stepIdOf } from '../pass/step-ids.ts'
import type { LogBuffer } from '../run/log-buffer.ts'
import { textOf } from '../wire/errors.ts'
import { lossOf } from '../wire/lossy.ts'
import { AWAIT_BRANCHES } from './late-handler.ts'

/**
 * The scope of these log lines. They cannot have the handler's scope: its lines are numbered, and a line that occurs in
 * some passes only would get the position of another one.
 */
const WARNING_SCOPE = '@replay'
/** Position of each kind of warning. The engine stores each position once, so each kind is logged once per run. */
const POSITIONS = {
  unawaited: 0,
  uncalled: 1,
  loss: 2,
  stray: 3,
  unknownReport: 4,
  progress: 5,
  attributes: 6,
  lost: 7,
  useless: 8,
  late: 9,
  streams: 10,
}

const NAMES_MAX = 5

function write(logs: LogBuffer, kind: keyof typeof POSITIONS, message: string): void {
  logs.append({ name: WARNING_SCOPE, nextIndex: POSITIONS[kind] }, { level: 'warn', message })
}

/** Logs the warnings of a pass that has ended. */
export function warn(logs: LogBuffer, { pass, memo, outcome }: { pass: Pass; memo: Memo; outcome: Outcome }) {
  if (outcome.kind === 'opcodes' && outcome.isStuck) warnOfOtherPath(logs, { pass, memo })
  if (outcome.kind !== 'returned') return
  const unawaited = pass.called.unawaited()
  if (unawaited.length > 0) {
    const steps = unawaited.length === 1 ? `Step ${list(unawaited)} was` : `Steps ${list(unawaited)} were`
    const what = 'the handler returned without using the result or noticing a failure'
    const children = pass.called.unawaited(id => memo.opOf(id) === 'RunWorkflow' && !memo.hasSettled(id))
    write(logs, 'unawaited', `${steps} never awaited: ${what}.${ofChildren(children)}`)
  }
  const { lost } = pass.called
  if (lost.length > 0) {
    const steps = lost.length === 1 ? `Step ${list(lost)} was` : `Steps ${list(lost)} were`
    write(logs, 'lost', `${steps} called after the handler had returned, and never run. ${AWAIT_BRANCHES}`)
  }
  if (outcome.loss !== undefined) write(logs, 'loss', `The result of the workflow has ${outcome.loss}.`)
  const uncalled = memo.uncalled()
  if (uncalled.length === 0) return
  write(logs, 'uncalled', `The handler returned without calling ${counted(uncalled, memo.storedCount)}. ${REASON}`)
}

/** Children that have not ended do not outlive the run. */
function ofChildren(names: readonly string[]): string {
  if (names.length === 0) return ''
  const children = names.length === 1 ? `The child of ${list(names)} is` : `The children of ${list(names)} are`
  return ` ${children} cancelled when the run ends: await the step, or emit an event that starts a separate run.`
}

/** Logs that the handler called new steps and not all stored ones. */
export function warnOfOtherPath(logs: LogBuffer, { pass, memo }: { pass: Pass; memo: Memo }): void {
  const { discovered } = pass.called
  const uncalled = memo.uncalled()
  if (uncalled.length === 0 || discovered.length === 0) return
  const steps = `the new step${discovered.length === 1 ? '' : 's'} ${list(discovered)}`
  write(logs, 'uncalled', `Expected ${counted(uncalled, memo.storedCount)}, saw ${steps}. ${REASON}`)
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

/** Logs that the event loop was blocked while a callback ran. */
export function warnOfBlock(logs: LogBuffer, { name, hashedId }: StepId, blockedMs: number): void {
  const what = `The event loop of the runner was blocked for at least ${Math.floor(blockedMs / 1000)} s while step "${name}" ran`
  const message = `${what}: no other run on it made progress meanwhile. CPU-bound work belongs in a worker thread.`
  logs.append({ name: `${BLOCK_SCOPE} ${name}`, stepId: hashedId, nextIndex: 0 }, { level: 'warn', message })
}

/** Logs the error of a promise that nothing awaits, if the pass has not been answered. */
export function warnOfStray(logs: LogBuffer, error: unknown): void {
  const message = `A promise was rejected, and nothing awaits it: ${textOf(error)}`
  logs.append({ name: WARNING_SCOPE, nextIndex: POSITIONS.stray }, { level: 'error', message })
}

/** Logs that the event of a wait led to nothing, when the handler calls an equal wait: its function may have lost a race. */
export function warnOfUselessEvent(logs: LogBuffer, name: string): void {
  const what = `The event of the wait ${JSON.stringify(name)} arrived but had no effect, and the next wait for it does not see that event`
  const message = `${what}. If an async function around the wait has lost a race, pass the wait itself to Promise.race.`
  write(logs, 'useless', message)
}

/** Logs that the handler awaited something outside of steps while a step was open (late-handler.ts). */
export function warnOfLate(logs: LogBuffer, message: string): void {
  write(logs, 'late', message)
}

/** Logs that the engine does not know attributes and progress, and therefore stores none. */
export function warnOfUnknownReport(logs: LogBuffer): void {
  const message =
    'This engine does not support attributes and progress of runs: ctx.attributes and ctx.progress have no effect.'
  write(logs, 'unknownReport', message)
}

/** Logs that the chunks of output streams are dropped, because the engine does not know them or the runner cannot reach it. */
export function warnOfDroppedChunks(logs: LogBuffer, isKnown: boolean): void {
  const reason = isKnown
    ? 'This runner does not know where its engine is'
    : `This engine does not support output streams (streams)`
  write(logs, 'streams', `${reason}: the chunks that the run writes are dropped, and the run continues.`)
}

/** Logs that a part of a report about the run was not allowed and was left out. */
export function warnOfReport(logs: LogBuffer, kind: 'progress' | 'attributes', problem: string): void {
  write(logs, kind, `${problem}. It was left out, and the run continues.`)
}

/** Beginning of the scope of warnings about the results of a step. */
const RESULT_SCOPE = '@result'

/** Beginning of the scope of warnings about blocks of the event loop. */
const BLOCK_SCOPE = '@blocked'

const REASON =
  'Its code has changed since they were stored (a step was renamed, removed or moved), or its path depends on ' +
  'something outside steps (time, randomness, I/O, shared state).'

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
