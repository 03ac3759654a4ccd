// What a pass shows of mistakes in a workflow's code, told once per run and kind in the run's log.
//
// A replay that is exact asks for every stored step again before it goes further. One that does not runs other code
// than the passes before, or code whose path depends on something outside of steps. Only a pass that came to its end
// can tell: until then a stored step may still be asked for.

import type { LogBuffer } from '../log-buffer.ts'
import type { Memo, UnaskedStep } from './memo.ts'
import type { Outcome, Pass } from './pass.ts'
import { stepIdOf } from './step-ids.ts'

/**
 * The scope of these lines. Not the handler's: its lines are numbered, and one that comes in some passes only would
 * take the place of another. A place here is a kind of warning, and the engine stores each place once.
 */
export const WARNING_SCOPE = '@replay'
const PLACES = { unawaited: 0, unasked: 1 }

const NAMES_MAX = 5

/** Writes the warnings of a pass that has ended. */
export function warn(logs: LogBuffer, { pass, memo, outcome }: { pass: Pass; memo: Memo; outcome: Outcome }) {
  const write = (kind: keyof typeof PLACES, message: string) =>
    logs.append({ name: WARNING_SCOPE, nextIndex: PLACES[kind] }, { level: 'warn', message })
  const { unawaited } = pass
  if (outcome.kind === 'returned' && unawaited.length > 0) write('unawaited', tellUnawaited(unawaited))
  const isOver = outcome.kind === 'returned' || (outcome.kind === 'opcodes' && outcome.isStuck)
  if (!isOver || memo.unaskedCount === 0) return
  const unasked = memo.unasked()
  if (outcome.kind === 'returned') write('unasked', tellVanished(unasked, memo.storedCount))
  else if (pass.discovered.length > 0)
    write('unasked', tellChanged(unasked, memo.storedCount, pass.discovered))
}

function tellUnawaited(names: readonly string[]): string {
  const steps = names.length === 1 ? `Step ${list(names)} was` : `Steps ${list(names)} were`
  return `${steps} never awaited: the handler returned without looking at the result, or noticing a failure.`
}

function tellVanished(unasked: readonly UnaskedStep[], storedCount: number): string {
  return `The handler returned without asking for ${counted(unasked, storedCount)}. ${REASON}`
}

function tellChanged(unasked: readonly UnaskedStep[], storedCount: number, seen: readonly string[]): string {
  const steps = seen.length === 1 ? `the new step ${list(seen)}` : `the new steps ${list(seen)}`
  return `Expected ${counted(unasked, storedCount)}, saw ${steps}. ${REASON}`
}

const REASON =
  'Its code has changed since they were stored (a step was renamed, removed or moved), or its path depends on ' +
  'something outside of steps (time, randomness, I/O, shared state).'

/** The memo knows its steps by their hashed ids alone; names are known of those that this process has seen. */
function counted(unasked: readonly UnaskedStep[], storedCount: number): string {
  const told = unasked.slice(0, NAMES_MAX).map(({ hashedId, after }) => {
    const stepId = stepIdOf(hashedId)
    const told = stepId === undefined ? `${hashedId.slice(0, 8)}…` : JSON.stringify(stepId)
    return told + (after === undefined ? '' : `, stored after "${after}"`)
  })
  const more = unasked.length > NAMES_MAX ? `; and ${unasked.length - NAMES_MAX} more` : ''
  return `${unasked.length} of the ${storedCount} stored steps (${told.join('; ')}${more})`
}

function list(names: readonly string[]): string {
  const told = names.slice(0, NAMES_MAX).map(name => JSON.stringify(name))
  const more = names.length > NAMES_MAX ? ` and ${names.length - NAMES_MAX} more` : ''
  return told.join(', ') + more
}
