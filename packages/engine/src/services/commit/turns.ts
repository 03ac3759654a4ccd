// Decisions that evaluate expressions share each turn of the event loop (domain/expressions/evaluations). One whose turn is over
// waits here; each later turn lets one of them go on, and namespaces take turns. Called by every service whose decisions
// evaluate expressions; decide-and-commit does so for its callers.

import { beginTurn, Evaluations, hasWorkedInTurn, TurnOver } from '../../domain/expressions/evaluations.ts'

type Resume = () => void

/** Decisions that wait, by namespace; the first namespace is next. One for the process, as the event loop is. */
const waiting = new Map<string, Resume[]>()
let isTurnScheduled = false

/** Makes a decision of the namespace: at once, or over several turns of the event loop if its expressions take long. */
export function decideInTurns<T>(
  namespace: string,
  decision: () => T,
  evaluations: Evaluations = new Evaluations(),
): T | Promise<T> {
  const decided = attempt(evaluations, decision, false)
  return decided instanceof TurnOver ? decideLater(namespace, decision, evaluations) : decided
}

async function decideLater<T>(namespace: string, decision: () => T, evaluations: Evaluations): Promise<T> {
  for (;;) {
    await nextTurnOf(namespace)
    const decided = attempt(evaluations, decision, true)
    if (!(decided instanceof TurnOver)) return decided
  }
}

function attempt<T>(evaluations: Evaluations, decision: () => T, isOwed: boolean): T | TurnOver {
  try {
    return evaluations.decide(decision, { isOwed })
  } finally {
    if (hasWorkedInTurn()) scheduleTurn()
  }
}

function nextTurnOf(namespace: string): Promise<void> {
  scheduleTurn()
  return new Promise(resume => {
    const others = waiting.get(namespace)
    if (others) others.push(resume)
    else waiting.set(namespace, [resume])
  })
}

function scheduleTurn(): void {
  if (isTurnScheduled) return
  isTurnScheduled = true
  setImmediate(startTurn)
}

function startTurn(): void {
  isTurnScheduled = false
  beginTurn()
  const next = waiting.entries().next()
  if (next.done) return
  const [namespace, [resume, ...later]] = next.value
  waiting.delete(namespace)
  // Behind the other namespaces.
  if (later.length > 0) waiting.set(namespace, later)
  scheduleTurn()
  resume?.()
}
