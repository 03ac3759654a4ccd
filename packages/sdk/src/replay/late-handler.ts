// Watches a handler after the answer of its pass: a step that the handler calls then is not part of the pass. Called by
// invoke.ts.

import { durationText, type InvokeRequest, knows } from '@perdure/protocol'
import type { Outcome } from '../pass/outcome.ts'
import type { Pass } from '../pass/pass.ts'
import type { AnswerDelay } from '../run/answer-delay.ts'
import type { Place } from '../run/late-places.ts'
import type { RunnerLog } from '../run/runner-log.ts'
import type { RunnerMemory } from '../run/runner-memory.ts'

/**
 * Asks the engine for another pass of a run, repeatedly until the engine answers. Resolves to whether it has. `settled`: the
 * number of settled steps that the engine had sent for the answered pass.
 */
export type AskForPass = (asked: { ctx: InvokeRequest['ctx']; settled: number }) => Promise<boolean>

interface Watched {
  pass: Pass
  outcome: Outcome
  ctx: InvokeRequest['ctx']
  settled: number
  delay: AnswerDelay | undefined
  memory: RunnerMemory
  log: RunnerLog
  ask: AskForPass | undefined
}

export const AWAIT_BRANCHES =
  'Await every branch that calls steps: forEach does not wait for its functions, Promise.all(list.map(...)) and for ... of do.'

/** How the runner's log names a pass. */
export function nameOf({ runId, workflow, attempt }: InvokeRequest['ctx']): string {
  return `run ${runId} of workflow "${workflow}" (attempt ${attempt})`
}

/**
 * Whether the handler may continue unnoticed after the answer of its pass. A step that the answer settles brings another pass by
 * itself.
 */
export function mayGoOn(outcome: Outcome): boolean {
  if (outcome.kind === 'opcodes') return outcome.isStuck && !outcome.opcodes.some(({ settles }) => settles)
  return outcome.kind === 'returned'
}

/** Called for each pass for which `mayGoOn` is true. It costs nothing until the handler continues. */
export function watchHandler({ pass, outcome, ctx, settled, delay, memory, log, ask }: Watched): void {
  if (outcome.kind === 'returned') {
    // The log of the run is complete.
    pass.onLate = step => {
      if (step === undefined) return
      pass.onLate = undefined
      const what = `called step ${JSON.stringify(step)} after the handler had returned: the step is never run`
      log('warn', `${nameOf(ctx)} ${what}. ${AWAIT_BRANCHES}`)
    }
    return
  }
  const place = { ...pass.at, workflow: ctx.workflow }
  const stuckSince = delay?.since(pass.at) ?? performance.now()
  pass.onLate = step => {
    pass.onLate = undefined
    const delayMs = performance.now() - stuckSince
    const isFirst = memory.late.wentOn(place, delayMs)
    const message = lateMessage(place, { step, delayMs })
    const isAsked = ask !== undefined && knows(ctx.features, 'another-pass')
    if (isFirst) log('warn', isAsked ? message : `${message} This engine cannot repeat the pass: the run waits.`)
    if (!isAsked) return
    memory.late.warnLater(ctx.runId, message)
    void ask({ ctx, settled }).then(isAnswered => {
      if (!isAnswered) log('warn', `${nameOf(ctx)} waits: the engine could not be asked for another pass. ${message}`)
    })
  }
}

/** Returns a message that says where a handler awaited something other than steps while a step was open. */
export function lateMessage(
  { workflow, after, open }: Place,
  { step, delayMs }: { step: string | undefined; delayMs: number },
): string {
  const begin = after === undefined ? 'at its beginning' : `after step ${JSON.stringify(after)}`
  const end = step === undefined ? 'its end' : `step ${JSON.stringify(step)}`
  const what = `awaited something other than a step for ${durationText(Math.max(1, Math.round(delayMs)))}`
  const while_ = open === undefined ? 'a step was open' : `step ${JSON.stringify(open)} was open`
  return `Workflow ${JSON.stringify(workflow)} ${what}, ${begin} and before ${end}, while ${while_}: its pass is repeated. Put I/O into its own step: step.run(name, callback).`
}
