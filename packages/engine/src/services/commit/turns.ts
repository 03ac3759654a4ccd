// Decisions that evaluate expressions share each turn of the event loop (domain/expressions/evaluations). A decision whose turn
// is over waits here; each later turn continues one of them, and namespaces take turns. Called by every service whose decisions
// evaluate expressions; decide-and-commit does so for its callers.

import { FairQueue } from '../../base/fair-queue.ts'
import { beginTurn, Evaluations, hasWorkedInTurn, TurnOver } from '../../domain/expressions/evaluations.ts'

/** Decisions that wait, by namespace. There is one queue for the process, because there is one event loop. */
const waiting = new FairQueue<() => void>()
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
  return new Promise(resume => waiting.push(namespace, resume))
}

function scheduleTurn(): void {
  if (isTurnScheduled) return
  isTurnScheduled = true
  setImmediate(startTurn)
}

function startTurn(): void {
  isTurnScheduled = false
  beginTurn()
  const resume = waiting.shift()
  if (!resume) return
  scheduleTurn()
  resume()
}
