// Checks of the messages themselves: failure handlers, log lines, unknown fields, payloads of every kind.

import { isDeepStrictEqual } from 'node:util'
import { member, reports, returns } from '../runner/expectations.ts'
import { Fault } from '../runner/runner.ts'
import { type Check, checksOf } from './check.ts'

const PAYLOADS = [
  { text: 'a "quoted" \\ line\nand 😀 ü', list: [1, 2.5, -0.001, true, null, { deep: [[]] }], empty: {} },
  'a text',
  0,
  false,
  [],
]

export const MESSAGE_CHECKS: readonly Check[] = [
  ...checksOf('failures', {
    async 'calls the failure handler, with the error of the run that failed'(runner) {
      const ctx = { onFailure: true, error: { message: 'it broke', code: 'step_failed' } }
      const answer = await runner.pass({ workflow: 'conform-failure', ctx })
      reports(answer, { op: 'StepRun', step: 'report', fields: { data: 'it broke' } })
      const memo = { report: { data: 'it broke' } }
      returns(await runner.pass({ workflow: 'conform-failure', ctx, memo }), { reported: 'it broke' })
    },
  }),
  ...checksOf('logs', {
    async 'sends the log lines of the pass'(runner) {
      const answer = await runner.pass({ workflow: 'conform-logs' })
      returns(answer, { logged: true })
      const logs = member(answer.body, 'logs')
      const expected = { level: 'info', message: 'hello', fields: { n: 1 }, scope: '@root', index: 0 }
      const isLine = (line: unknown) =>
        Object.entries(expected).every(([field, value]) => isDeepStrictEqual(member(line, field), value))
      if (Array.isArray(logs) && logs.some(isLine)) return
      throw new Fault(`expected the line ${JSON.stringify(expected)} in logs, got ${JSON.stringify(logs)}`)
    },
  }),
  ...checksOf('messages', {
    async 'ignores fields that it does not know'(runner) {
      const answer = await runner.pass({
        workflow: 'conform-sequence',
        data: { n: 4 },
        memo: { add: { data: 5, later: true } as object },
        ctx: { later: { a: 1 } },
        change: request => ({ ...request, later: [1], event: { ...request.event, later: 'x' } }),
      })
      reports(answer, { op: 'StepRun', step: 'double', fields: { data: 10 } })
    },
    async 'keeps any JSON as it is'(runner) {
      for (const data of PAYLOADS) {
        const answer = await runner.pass({ workflow: 'conform-echo', data })
        reports(answer, { op: 'StepRun', step: 'echo', fields: { data } })
        returns(await runner.pass({ workflow: 'conform-echo', data, memo: { echo: { data } } }), data)
      }
    },
    async 'does without the data of an event that has none'(runner) {
      const answer = await runner.pass({ workflow: 'conform-parallel', memo: { left: {}, right: {}, rest: {} } })
      if (answer.status !== 200) throw new Fault(`expected a 200, got ${answer.status}`)
    },
  }),
]
