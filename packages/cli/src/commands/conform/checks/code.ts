// Checks of code steps: one after the other, in parallel, repeated, failed.

import { END_WITH_STEPS_FEATURE, hashStepId, MEMO_ATTEMPT_FEATURE } from '@perdure/protocol'
import { fails, member, reports, reportsError, returns, same } from '../runner/expectations.ts'
import { type Check, checksOf } from './check.ts'

/** The engine takes the last steps of a run together with its end. The runner need not use that. */
const ENDS = { features: [END_WITH_STEPS_FEATURE] }

/** Runs that are sent at once. */
const RUNS = 10

export const CODE_CHECKS: readonly Check[] = [
  ...checksOf('sequences', {
    async 'executes the first step, reports its result, and stops there'(runner) {
      const answer = await runner.pass({ workflow: 'conform-sequence', data: { n: 4 } })
      reports(answer, { op: 'StepRun', step: 'add', fields: { data: 5 } })
    },
    async 'goes on with the stored result of a step, not with one of its own'(runner) {
      const answer = await runner.pass({ workflow: 'conform-sequence', data: { n: 4 }, memo: { add: { data: 100 } } })
      reports(answer, { op: 'StepRun', step: 'double', fields: { data: 200 } })
    },
    async 'returns when every step is stored'(runner) {
      const memo = { add: { data: 5 }, double: { data: 11 } }
      returns(await runner.pass({ workflow: 'conform-sequence', data: { n: 4 }, memo }), { result: 11 })
    },
    async 'reports its last step, with the end or before it, where the engine takes both together'(runner) {
      const memo = { add: { data: 100 } }
      const answer = await runner.pass({ workflow: 'conform-sequence', data: { n: 4 }, memo, ctx: ENDS })
      if (answer.status === 200) returns(answer, { result: 200 })
      const opcodes = member(answer.body, 'opcodes') ?? []
      const reported = { ...answer, status: answer.status === 200 ? 206 : answer.status, body: { opcodes } }
      reports(reported, { op: 'StepRun', step: 'double', fields: { data: 200 } })
    },
    async 'begins no step there before the one before it is stored'(runner) {
      const answer = await runner.pass({ workflow: 'conform-sequence', data: { n: 4 }, ctx: ENDS })
      reports(answer, { op: 'StepRun', step: 'add', fields: { data: 5 } })
    },
    async 'reports a failed step there before it ends the run by its error'(runner) {
      reportsError(await runner.pass({ workflow: 'conform-fail', ctx: ENDS }), 'risky', 'declined')
    },
    async 'answers a repeated pass as it did before'(runner) {
      const again = {
        workflow: 'conform-sequence',
        data: { n: 4 },
        memo: { add: { data: 5 } },
        ctx: { runId: 'run_again' },
      }
      const first = await runner.pass(again)
      same('the second answer', (await runner.pass(again)).body, first.body)
    },
    async 'keeps runs apart that are under way at once'(runner) {
      const numbers = Array.from({ length: RUNS }, (_, i) => i)
      const answers = await Promise.all(
        numbers.map(n => runner.pass({ workflow: 'conform-sequence', data: { n }, memo: { add: { data: n } } })),
      )
      for (const [n, answer] of answers.entries())
        reports(answer, { op: 'StepRun', step: 'double', fields: { data: 2 * n } })
    },
    async 'makes step ids of the UTF-8 bytes of a name, and gives repeats of it a position'(runner) {
      const memo = { 'Größe ✓': { data: 1 } }
      const second = await runner.pass({ workflow: 'conform-repeat', memo })
      reports(second, { op: 'StepRun', step: 'Größe ✓:1', fields: { data: 2 } })
      const both = { ...memo, 'Größe ✓:1': { data: 20 } }
      reports(await runner.pass({ workflow: 'conform-repeat', memo: both }), { op: 'StepRun', step: 'Größe ✓:2' })
      const all = { ...both, 'Größe ✓:2': { data: 300 } }
      returns(await runner.pass({ workflow: 'conform-repeat', memo: all }), { sum: 321 })
    },
  }),
  ...checksOf('parallel', {
    async 'reports every step of one moment in one answer'(runner) {
      const left = { op: 'StepRun', step: 'left', fields: { data: 'L' } }
      const right = { op: 'StepRun', step: 'right', fields: { data: 'R' } }
      const rest = { op: 'Sleep', step: 'rest', fields: { sleepMs: 60_000 } }
      reports(await runner.pass({ workflow: 'conform-parallel' }), left, right, rest)
    },
    async 'reports only those without an entry in the memo'(runner) {
      const memo = { left: { data: 'l' }, rest: { pending: true } }
      const answer = await runner.pass({ workflow: 'conform-parallel', memo })
      reports(answer, { op: 'StepRun', step: 'right', fields: { data: 'R' } })
    },
    async 'neither executes nor reports a pending step'(runner) {
      const memo = { left: { data: 'l' }, rest: { pending: true }, right: { pending: true } }
      reports(await runner.pass({ workflow: 'conform-parallel', memo }))
    },
    async 'goes on when all are stored, in whatever order they settled'(runner) {
      const memo = { rest: { data: null }, right: { data: 'r' }, left: { data: 'l' } }
      returns(await runner.pass({ workflow: 'conform-parallel', memo }), { parts: ['l', 'r'] })
    },
  }),
  ...checksOf('retries', {
    async 'reports a failed attempt as an opcode with its error'(runner) {
      reportsError(await runner.pass({ workflow: 'conform-retry' }), 'flaky', 'not yet')
    },
    async 'leaves the step alone until its next attempt is due'(runner) {
      reports(await runner.pass({ workflow: 'conform-retry', memo: { flaky: { pending: true } }, attempt: 2 }))
    },
    async 'executes it again when it has no entry any more'(runner) {
      const answer = await runner.pass({ workflow: 'conform-retry', attempt: 2 })
      reports(answer, { op: 'StepRun', step: 'flaky', fields: { data: 'done', error: undefined } })
    },
    async 'says that a step must not be tried again'(runner) {
      const opcode = reportsError(await runner.pass({ workflow: 'conform-final' }), 'hopeless', 'never')
      same('retriable', opcode.retriable, false)
    },
  }),
  ...checksOf('attempts', {
    async 'counts the attempts of a step as the invoke does'(runner) {
      const ctx = { features: [MEMO_ATTEMPT_FEATURE], stepAttempts: { [hashStepId('count')]: 3 } }
      const answer = await runner.pass({ workflow: 'conform-attempt', ctx })
      reports(answer, { op: 'StepRun', step: 'count', fields: { data: 3 } })
    },
    async 'takes the attempt of a step that is not listed there for its first one'(runner) {
      const ctx = { features: [MEMO_ATTEMPT_FEATURE], stepAttempts: { [hashStepId('other')]: 3 } }
      const answer = await runner.pass({ workflow: 'conform-attempt', ctx, attempt: 2 })
      reports(answer, { op: 'StepRun', step: 'count', fields: { data: 1 } })
    },
  }),
  ...checksOf('errors', {
    async 'asks to have the error of a step back that its handler catches'(runner) {
      const opcode = reportsError(await runner.pass({ workflow: 'conform-catch' }), 'risky', 'declined')
      same('catchable', opcode.catchable, true)
    },
    async 'throws a stored error where the step was called, and the handler may catch it'(runner) {
      const memo = { risky: { error: { message: 'declined by the bank', name: 'CardError' } } }
      const answer = await runner.pass({ workflow: 'conform-catch', memo })
      reports(answer, { op: 'StepRun', step: 'fallback', fields: { data: 'declined by the bank' } })
      const caught = { ...memo, fallback: { data: 'ok' } }
      returns(await runner.pass({ workflow: 'conform-catch', memo: caught }), { fallback: 'ok' })
    },
    async 'fails the run with a 4xx when a stored error is not caught'(runner) {
      const memo = { risky: { error: { message: 'declined by the bank' } } }
      fails(await runner.pass({ workflow: 'conform-fail', memo }), '4xx', 'declined by the bank')
    },
    async 'has the pass repeated with a 5xx when the handler throws outside of steps'(runner) {
      fails(await runner.pass({ workflow: 'conform-throw' }), '5xx', 'broken')
    },
    async 'answers 404 for a workflow that it does not have'(runner) {
      const { status } = await runner.pass({ workflow: 'conform-unheard-of' })
      same('the status', status, 404)
    },
  }),
]
