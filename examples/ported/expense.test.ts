import { testEngine } from 'perdure/testing'
import { expect, test } from 'vitest'
import { type Answer, approveExpense, type Decision, type Gate } from './expense.ts'

const yes = (gate: Gate, by: string): Decision => ({ gate, by, approved: true })

test('a double click counts once, and the second is told who decided', async () => {
  await using engine = await testEngine([approveExpense])
  const run = await engine.start(approveExpense, { expenseId: 'E-1', amount: 4_000 })

  const first = await run.update<Answer>('decide', yes('manager', 'ada'))
  const second = await run.update<Answer>('decide', { ...yes('manager', 'ada'), approved: false })

  expect(first).toEqual({ counted: true, message: 'manager: approved' })
  expect(second).toEqual({ counted: false, message: 'ada has approved already' })
  await run.update('decide', yes('finance', 'grace'))
  expect(await run.result()).toEqual({ status: 'paid', approvedBy: ['ada', 'grace'] })
  expect(run.executions('pay out')).toBe(1)
})

test('a click on the last gate after its decision is refused, because the run has ended', async () => {
  await using engine = await testEngine([approveExpense])
  const run = await engine.start(approveExpense, { expenseId: 'E-2', amount: 20 })

  await run.update('decide', yes('manager', 'ada'))

  await expect(run.update('decide', yes('manager', 'ada'))).rejects.toMatchObject({ code: 'run_ended' })
  expect(run.executions('pay out')).toBe(1)
})

test('a click without a decision is refused, and the gate stays open', async () => {
  await using engine = await testEngine([approveExpense])
  const run = await engine.start(approveExpense, { expenseId: 'E-6', amount: 20 })

  await expect(run.update('decide')).rejects.toThrow('a decision has a gate')
  await run.update('decide', yes('manager', 'ada'))
  expect(await run.result()).toEqual({ status: 'paid', approvedBy: ['ada'] })
})

test('finance cannot decide before the manager, and a rejection pays nothing', async () => {
  await using engine = await testEngine([approveExpense])
  const run = await engine.start(approveExpense, { expenseId: 'E-3', amount: 4_000 })

  const early = await run.update<Answer>('decide', yes('finance', 'grace'))
  await run.update('decide', { gate: 'manager', by: 'ada', approved: false })

  expect(early).toEqual({ counted: false, message: 'manager comes first' })
  expect(await run.result()).toEqual({ status: 'rejected', by: 'ada' })
  expect(run.executions('pay out')).toBe(0)
})

test('two clicks in the same moment, before the mail is out, are one decision', async () => {
  await using engine = await testEngine([approveExpense])
  const asking = engine.hold('ask manager')
  const run = await engine.start(approveExpense, { expenseId: 'E-4', amount: 4_000 })
  await asking.reached
  await run.signal('decide', yes('manager', 'ada'))
  await run.signal('decide', yes('manager', 'bob'))
  asking.release()

  await run.update('decide', yes('finance', 'grace'))

  expect(await run.result()).toEqual({ status: 'paid', approvedBy: ['ada', 'grace'] })
})

test('an expense that nobody decides expires at its gate', async () => {
  await using engine = await testEngine([approveExpense])
  const run = await engine.start(approveExpense, { expenseId: 'E-5', amount: 4_000 })

  expect(await run.result({ within: '7d' })).toEqual({ status: 'expired', gate: 'manager' })
})
