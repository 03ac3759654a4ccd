// Rules that hold for opcodes of every kind (docs/wire-protocol.md#opcodes). The type demands an opcode of each kind.

import { describe, expect, it } from 'vitest'
import { given } from '../testkit/given.testkit.ts'
import {
  cancelsRun,
  emits,
  limits,
  NOW,
  ran,
  replies,
  reported,
  run,
  runsChild,
  SECOND,
  sends,
  sleeps,
  sleepsUntil,
  startsRun,
  waitsFor,
  waitsForCallback,
  waitsForRun,
  waitsForSignal,
  workflow,
} from '../testkit/nouns.testkit.ts'
import type { PassOpcode } from './opcodes/opcode.ts'
import { OPCODES } from './opcodes/registry.ts'

const ONE_OF_EACH = {
  StepRun: ran('a', '1'),
  StepLimit: limits('a', 'openai'),
  Sleep: sleeps('a', SECOND),
  SleepUntil: sleepsUntil('a', NOW + SECOND),
  WaitForEvent: waitsFor('a', 'order.paid', { timeoutMs: SECOND }),
  WaitForSignal: waitsForSignal('a', 'approve', { timeoutMs: SECOND }),
  ReplyToUpdate: replies('a', 'evt_1'),
  WaitForCallback: waitsForCallback('a', { timeoutMs: SECOND }),
  WaitForRun: waitsForRun('a', 'run_other', { timeoutMs: SECOND }),
  RunWorkflow: runsChild('a', 'pack'),
  StartRun: startsRun('a', 'pack'),
  CancelRun: cancelsRun('a', 'run_other'),
  Emit: emits('a', 'order.sent'),
  Webhook: sends('a', 'https://partner.test/hook'),
} satisfies Record<PassOpcode['op'], PassOpcode>

const reporting = (...opcodes: PassOpcode[]) =>
  given(run())
    .registered(workflow('order'), workflow('pack'))
    .newest('run_other', run({ id: 'run_other' }))
    .when(reported(...opcodes))

describe.each(Object.values(ONE_OF_EACH))('$op', opcode => {
  const { parksFor, whenDue } = OPCODES[opcode.op]
  const settlesAtOnce = reporting(opcode).step('a').status === 'succeeded'

  it('counts once in one answer', () => {
    const [once, twice] = [reporting(opcode), reporting(opcode, opcode)]
    expect(twice.written).toEqual(once.written)
    expect(twice.step('a')).toEqual(once.step('a'))
  })

  it('changes nothing when a later pass reports it again', () => {
    const once = reporting(opcode)
    const step = once.step('a')
    const again = once.afterCommit().when(reported(opcode, ran('other')))
    expect(again.step('a')).toEqual(step)
    expect(again.written.filter(type => type !== 'run.moved')).toEqual(['step.recorded'])
    expect(again.guards.map(({ type }) => type)).toEqual(['run'])
  })

  it('lets the next pass follow at once when it settles its step, and else parks the run with its reason', () => {
    const then = reporting(opcode)
    if (settlesAtOnce) expect(then).toMatchObject({ next: 'pass', run: { status: 'running' } })
    else expect(then.run).toMatchObject({ status: 'waiting', waitingFor: { kind: parksFor, stepName: 'a' } })
  })

  it('wakes its run exactly when its step has a result for its time', () => {
    const then = reporting(opcode)
    expect(then.step('a').wakeAt).toBe(whenDue ? NOW + SECOND : undefined)
    if (!whenDue) return
    expect(then.run.availableAt).toBe(NOW + SECOND)
    const due = then.leasedAgain(NOW + SECOND).whenLeased()
    expect(due.step('a')).toMatchObject({ status: 'succeeded', finishedAt: NOW + SECOND, ...whenDue })
  })
})
