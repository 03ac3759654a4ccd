// Answers that end a run with its last steps (docs/wire-protocol.md#end-with-steps).

import { STEPS_MAX } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { given } from '../testkit/given.testkit.ts'
import { emits, idOf, ran, run, sends, succeeded, threw } from '../testkit/nouns.testkit.ts'
import { STATE_BYTES_MAX } from './advance.ts'
import { type Outcome, readAnswer } from './answer/outcome.ts'
import type { PassOpcode } from './opcodes/opcode.ts'

const ends = (...opcodes: PassOpcode[]): Outcome => ({ kind: 'returned', data: '"ok"', opcodes, logs: [] })
const caught = (name: string) => threw(name, { retriable: false, catchable: true })
const many = (count: number) => Array.from({ length: count }, (_, i) => succeeded(`s${i}`))

describe('the last steps and the end', () => {
  it('are one decision, the steps first', () => {
    const then = given(run(), succeeded('a')).when(ends(ran('b', '2'), caught('c'), emits('d', 'x')))
    expect(then.run).toMatchObject({ status: 'succeeded', result: '"ok"' })
    expect(then.steps).toEqual({ a: 'succeeded', b: 'succeeded', c: 'failed', d: 'succeeded' })
    const seqs = ['b', 'c', 'd'].map(name => then.step(name).seq)
    expect(seqs).toEqual([...seqs].sort((x, y) => x - y))
    expect(then.run.finishedSeq).toBeGreaterThan(Math.max(...seqs))
    expect(then.changes('event.recorded')).toHaveLength(1)
  })

  it('a stored step keeps its first result', () => {
    const then = given(run(), succeeded('a', '1')).when(ends(ran('a', '2')))
    expect(then.step('a').data).toBe('1')
    expect(then.run.status).toBe('succeeded')
  })
})

describe('a refused event or webhook', () => {
  it.each([
    ['an event name', emits('e', ' ')],
    ['a URL', sends('e', 'ftp://nowhere/')],
  ])('%s keeps the steps, not the end, and the run goes on', (_, opcode) => {
    const then = given(run({ transportTries: 2 })).when(ends(ran('b'), opcode))
    expect(then).toMatchObject({ next: 'pass', run: { status: 'running', transportTries: 0 } })
    expect(then.steps).toEqual({ b: 'succeeded', e: 'failed' })
    expect(then.run).not.toHaveProperty('result')
  })
})

describe('a limit refuses the whole answer', () => {
  it.each([
    ['steps', many(STEPS_MAX), ends(ran('one more'))],
    ['state', [], ends(ran('big', `"${'x'.repeat(STATE_BYTES_MAX)}"`))],
    ['attributes', [], { ...ends(ran('a')), attributes: Object.fromEntries(many(33).map(({ name }) => [name, 1])) }],
  ])('of %s', (_, steps, outcome) => {
    const then = given(run(), ...steps).when(outcome as Outcome)
    expect(then.run).toMatchObject({ status: 'failed', error: { code: 'limit_exceeded' } })
    expect(then.changes('step.recorded')).toEqual([])
    expect(then.run).not.toHaveProperty('result')
  })
})

describe('an answer', () => {
  const negotiated = {
    stepPolicy: false,
    waitOrder: false,
    cleanup: true,
    budgets: true,
    attributes: false,
    continueAs: false,
    endWithSteps: true,
  }
  const read = (...opcodes: object[]) => readAnswer(200, JSON.stringify({ data: 1, opcodes, logs: [] }), { negotiated })
  const op = (name: string, fields: object) => ({ op: name, id: idOf('a'), name: 'a', ...fields })
  const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)

  it.each([
    op('StepRun', { data: 1 }),
    op('StepRun', { error: { message: 'no' }, retriable: false, catchable: true }),
    op('Emit', { eventName: 'e' }),
    op('Webhook', { webhookUrl: 'http://x.test' }),
    op('StepRun', { data: nested(200) }),
  ])('may end with %j', opcode => {
    expect(read(opcode)).toMatchObject({ kind: 'returned', data: '1', opcodes: [{ op: opcode.op }] })
  })

  it.each([
    op('StepRun', { error: { message: 'no' } }),
    op('StepRun', { error: { message: 'no' }, retriable: false }),
    op('StepRun', { error: { message: 'no' }, catchable: true }),
    op('Sleep', { sleepMs: 1 }),
    op('SleepUntil', { sleepUntilMs: 1 }),
    op('WaitForEvent', { eventName: 'e' }),
    op('RunWorkflow', { childName: 'w' }),
    op('StepRun', { data: nested(201) }),
    op('Dance', {}),
  ])('may not end with %j', opcode => {
    expect(read(op('StepRun', { id: 'b' }), opcode)).toMatchObject({
      kind: 'rejected',
      error: { code: 'invalid_response' },
    })
  })

  it('of a runner that did not name the feature has no steps', () => {
    const body = JSON.stringify({ data: 1, opcodes: [op('Sleep', { sleepMs: 1 })], logs: [] })
    expect(readAnswer(200, body)).toEqual({ kind: 'returned', data: '1', logs: [] })
  })

  it('without opcodes, or with none, is an end alone', () => {
    expect(read()).toEqual({ kind: 'returned', data: '1', logs: [] })
    expect(readAnswer(200, '{"data":1,"opcodes":null}', { negotiated })).toEqual({
      kind: 'returned',
      data: '1',
      logs: [],
    })
    expect(readAnswer(200, '{"opcodes":{}}', { negotiated })).toMatchObject({ error: { code: 'invalid_response' } })
  })
})
