// Plays a case: carries out its moves one after the other, or all at once, and compares the results. Called by suite.ts.

import type { Case, Move, Pass } from './cases.ts'
import type { ConnectRunner } from './connect-runner.ts'
import { faultOf, matches, meets, type Outcome } from './expectations.ts'
import { passWithReports } from './report-taker.ts'
import { type Answer, Fault, type RunnerUnderTest } from './runner.ts'

/** Throws a Fault if the runner breaks the rule. `connect`: the same runner, if it is behind a socket. */
export async function play(one: Case, runner: RunnerUnderTest, connect?: ConnectRunner): Promise<void> {
  const answers: Answer[] = []
  const passes = one.play.filter(move => 'pass' in move)
  const carryOut = async (move: Move): Promise<void> => {
    if ('pass' in move) {
      const { answer, reports } = await outcomeOf(one, move.pass, runner)
      answers.push(answer)
      const { expect } = move
      const fault = expect && faultOf(() => meets({ answer, reports, answers }, expect))
      if (fault === undefined) return
      throw new Fault(passes.length > 1 ? `pass ${passes.indexOf(move) + 1} of ${passes.length}: ${fault}` : fault)
    }
    if (!connect) throw new Error(`the case "${one.name}" needs a socket`)
    else if ('frame' in move) connect.send(move.frame.type, move.frame.payload)
    else await act(move, connect)
  }
  if (one.atOnce) await Promise.all(one.play.map(carryOut))
  else for (const move of one.play) await carryOut(move)
}

async function act(move: Extract<Move, { do: string }>, runner: ConnectRunner): Promise<void> {
  if (move.do === 'ping') return runner.ping()
  if (move.do === 'cut') return runner.cut()
  if (move.do === 'prove-with-other-key') return runner.proveWithOtherKey()
  const { hello, registration } = await runner.registered()
  if (hello === undefined) throw new Fault('expected a hello before runner.register, got none')
  const { app } = runner.options
  const frames: Record<string, unknown> = { hello, registration }
  for (const [name, matcher] of Object.entries(move.expect ?? {})) matches(name, frames[name], matcher, { app })
}

/** Sends one pass of the case; a case about reports determines how they are answered. */
export async function outcomeOf(
  { workflow = '', feature }: Pick<Case, 'workflow' | 'feature'>,
  { receipts, ...pass }: Pass,
  runner: RunnerUnderTest,
): Promise<Omit<Outcome, 'answers'>> {
  const ctx = { ...(feature === undefined ? {} : { features: [feature] }), ...pass.ctx }
  const request = { ...pass, workflow, ctx }
  return receipts ? passWithReports(runner, request, receipts) : { answer: await runner.pass(request), reports: [] }
}
