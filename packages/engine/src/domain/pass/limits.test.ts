// Runs that cannot continue: too many steps, too much state, nothing to do, unusable answers (docs/limits.md#bounds).

import { STEPS_MAX } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { given } from '../testkit/given.testkit.ts'
import { ran, reported, run, succeeded } from '../testkit/nouns.testkit.ts'
import { STATE_BYTES_MAX } from './advance.ts'

const many = (count: number) => Array.from({ length: count }, (_, i) => succeeded(`s${i}`))

describe('a run', () => {
  it('fails with one more, and keeps it', () => {
    const then = given(run(), ...many(STEPS_MAX)).when(reported(ran('one more')))
    expect(then.run).toMatchObject({ status: 'failed', error: { code: 'limit_exceeded' } })
    expect(then.step('one more').status).toBe('succeeded')
  })

  it('fails when its state outgrows 32 MiB: input, results before and results now', () => {
    expect(STATE_BYTES_MAX).toBe(32 * 1024 * 1024)
    const third = `"${'x'.repeat(STATE_BYTES_MAX / 3)}"`
    const two = given(run({ input: third })).when(reported(ran('a', third)))
    expect(two.run.status).toBe('running')
    const three = two.afterCommit().when(reported(ran('b', third)))
    expect(three.run).toMatchObject({ status: 'failed', error: { code: 'limit_exceeded' } })
  })
})

describe('a 206 that brings nothing new', () => {
  it.each([
    ['without any opcode', []],
    ['with a step that is settled', [ran('done', '2')]],
  ])('%s, while nothing is pending, can never go on: invalid_response', (_, opcodes) => {
    const then = given(run(), succeeded('done', '1')).when(reported(...opcodes))
    expect(then.run).toMatchObject({ status: 'failed', error: { code: 'invalid_response' } })
    expect(then.step('done').data).toBe('1')
  })
})
