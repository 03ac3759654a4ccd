// Checkpoints of a pass under way (docs/wire-protocol.md#checkpoints): the rules of a 206, except that nothing parks; and their
// acks, in the order of a later replay.

import { describe, expect, it } from 'vitest'
import { RunState } from '../run/state.ts'
import { given } from '../testkit/given.testkit.ts'
import {
  emits,
  event,
  idOf,
  NOW,
  ran,
  reported,
  retrying,
  run,
  runsChild,
  SECOND,
  sends,
  sleeping,
  sleeps,
  sleepsUntil,
  succeeded,
  threw,
  waiting,
  waitsFor,
  workflow,
} from '../testkit/nouns.testkit.ts'
import { readCheckpoint, transportFailed } from './answer/outcome.ts'

const acked = (...steps: object[]) => ({ seq: 1, steps })
const as = (name: string, fields: object = {}) => ({ id: idOf(name), ...fields })

describe('a checkpoint', () => {
  it('keeps its log lines', () => {
    const line = { level: 'info', message: 'paid', scope: '@root', index: 0 } as const
    const then = given(run()).whenCheckpointed({ kind: 'opcodes', opcodes: [ran('charge')], logs: [line] })
    expect(then.changes('log.written')).toMatchObject([{ line: { message: 'paid' } }])
    expect(then.afterCommit().whenCheckpointed({ kind: 'opcodes', opcodes: [], logs: [line] }).written).toEqual([])
  })

  it('has its steps start at the last message to the runner', () => {
    const then = given(run())
      .sent(NOW - 9 * SECOND)
      .acked({ asOf: NOW - 2 * SECOND })
      .whenCheckpointed(reported(ran('charge')))
    expect(then.step('charge')).toMatchObject({ startedAt: NOW - 2 * SECOND, finishedAt: NOW })
  })

  it('that is sent again changes nothing', () => {
    const steps = reported(ran('charge', '1'), threw('ship', { retryAfterMs: 0 }), emits('tell', 'told'))
    const first = given(run())
      .sent(NOW - SECOND)
      .whenCheckpointed(steps)
    const second = first
      .afterCommit(SECOND)
      .sent(NOW - SECOND)
      .whenCheckpointed(steps)
    expect(second.written).toEqual([])
  })

  it('of a pass that a retry was due for takes its new attempt', () => {
    const then = given(run(), retrying('charge', NOW - SECOND)).whenCheckpointed(reported(ran('charge', '2')))
    expect(then.step('charge')).toMatchObject({ status: 'succeeded', attempt: 2, data: '2' })
  })

  it('counts a failed step once for the pass, however many checkpoints bring one', () => {
    const first = given(run())
      .sentAttempt(1)
      .whenCheckpointed(reported(threw('a')))
    expect(first.run).toMatchObject({ attempt: 2, status: 'running' })
    const second = first
      .afterCommit()
      .sentAttempt(1)
      .whenCheckpointed(reported(threw('b')))
    expect(second.run.attempt).toBe(2)
    const broke = second.afterCommit().sentAttempt(1).when(transportFailed('gone'))
    expect(broke.run).toMatchObject({ attempt: 2, status: 'waiting' })
  })

  it('makes a run that was paused and resumed during the pass running again', () => {
    const then = given(run({ status: 'queued' })).whenCheckpointed(reported(ran('charge')))
    expect(then).toMatchObject({ next: 'pass', run: { status: 'running', leaseOwner: 'engine-1' } })
  })
})

describe('a checkpoint that ends its run', () => {
  it('came after a cancel was requested: nothing of it is kept', () => {
    const then = given(run({ cancelRequested: true })).whenCheckpointed(reported(ran('charge')))
    expect(then).toMatchObject({ next: 'stop', run: { status: 'cancelled' }, steps: {} })
  })

  it('emitted the event that cancels the run', () => {
    const then = given(run())
      .watching('stop', { runId: run().id })
      .whenCheckpointed(reported(emits('a', 'stop')))
    expect(then).toMatchObject({ next: 'stop', run: { status: 'cancelled' } })
  })
})

describe('the end of a pass after checkpoints', () => {
  const checkpointed = () => given(run()).whenCheckpointed(reported(ran('charge', '1'), sleeps('nap', SECOND)))

  it('needs another pass when the runner was requested to stop', () => {
    const then = checkpointed().afterCommit().acked({ stopRequested: true }).when(reported())
    expect(then).toMatchObject({ next: 'pass', run: { status: 'running' } })
  })

  it('with nothing new and nothing pending is no error when an ack contained settled steps', () => {
    const stuck = given(run(), succeeded('charge'))
    expect(stuck.acked({ wasSentSettled: true }).when(reported())).toMatchObject({ next: 'pass' })
    expect(stuck.when(reported()).run.error?.code).toBe('invalid_response')
  })
})

describe('the ack', () => {
  it('has the id only of a step that succeeded as reported, and pending for a parked or failed one', () => {
    const then = given(run()).whenCheckpointed(
      reported(ran('charge', '1'), sleeps('nap', SECOND), threw('ship'), runsChild('pack', 'pack')),
    )
    const refused = { error: { name: 'ChildNotStartedError', message: expect.any(String) } }
    expect(then.ack()).toEqual(
      acked(as('charge'), as('nap', { pending: true }), as('ship', { pending: true }), as('pack', refused)),
    )
  })

  it('contains the results that the engine gave to the others', () => {
    const then = given(run())
      .registered(workflow('order'), workflow('pack'))
      .logged('paid', [event('evt_9', 'paid', { data: '7.0' })], 1)
      .whenCheckpointed(
        reported(
          emits('tell', 'told'),
          sends('hook', 'https://partner.test/'),
          waitsFor('payment', 'paid'),
          threw('ship', { retriable: false, catchable: true }),
          runsChild('pack', 'pack'),
        ),
      )
    expect(then.ack()).toEqual(
      acked(
        as('tell', { data: { eventId: expect.any(String) } }),
        as('hook', { data: { deliveryId: expect.any(String) } }),
        as('payment', { data: expect.objectContaining({ id: 'evt_9', data: 7 }) }),
        as('ship', { error: { message: 'ship broke' } }),
        as('pack', { pending: true }),
      ),
    )
  })

  it('is in the order of the memo of a later replay', () => {
    const then = given(run(), sleeping('early', NOW - SECOND)).whenCheckpointed(
      reported(sleepsUntil('late', NOW - SECOND), ran('charge', '1'), waitsFor('own', 'e'), emits('x', 'e')),
    )
    const ack = then.ack() as { steps: { id: string }[] }
    const { state } = then.afterCommit()
    const steps = [...state.steps.values()]
    const replayed = RunState.loaded({ run: state.run, steps, rootLogged: 0 }).memo(NOW)
    expect(ack.steps.map(({ id }) => id)).toEqual(Object.keys(JSON.parse(replayed)))
    expect(replayed).toBe(state.memo(NOW))
  })

  it('has what settled from outside first, and its data', () => {
    const state = given(run(), waiting('payment', 'paid', { status: 'succeeded', data: '{"n":1.50}' })).state
    const then = given(run(), waiting('payment', 'paid')).whenCheckpointed(reported(ran('charge', '1')))
    expect(then.ack([...state.steps.values()], true)).toEqual({
      ...acked(as('payment', { data: { n: 1.5 } }), as('charge')),
      stop: true,
    })
  })
})

describe('the payload of a checkpoint', () => {
  const opcode = '{"op":"StepRun","id":"a","name":"a","data":1.50}'

  it('is read unchanged', () => {
    expect(readCheckpoint(`{"seq":7,"opcodes":[${opcode}],"logs":[]}`)).toEqual({
      seq: 7,
      reported: { kind: 'opcodes', opcodes: [{ op: 'StepRun', id: 'a', name: 'a', data: '1.50' }], logs: [] },
    })
    expect(readCheckpoint('{"seq":1,"opcodes":[]}').reported).toEqual({
      kind: 'opcodes',
      opcodes: [],
      logs: [],
    })
  })

  it.each([
    ['null', 'object'],
    ['[]', 'object'],
    ['{"opcodes":[]}', 'seq'],
    ['{"seq":0,"opcodes":[]}', 'seq'],
    ['{"seq":1}', 'opcodes'],
    ['{"seq":1,"opcodes":[{"op":"Dance","id":"a","name":"a"}]}', 'opcodes'],
    [`{"seq":1,"opcodes":[],"more":${'['.repeat(300)}${']'.repeat(300)}}`, 'deeper'],
  ])('%.60s is refused, and the error names what is wrong', (payload, what) => {
    expect(readCheckpoint(payload).reported).toMatchObject({
      kind: 'rejected',
      error: { code: 'invalid_response', message: expect.stringContaining(what) },
    })
  })
})
