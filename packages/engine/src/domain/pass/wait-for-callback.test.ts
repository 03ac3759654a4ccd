// WaitForCallback: a wait takes a post that came earlier, or parks if there is none (docs/steps.md#callbacks).

import { describe, expect, it } from 'vitest'
import { earlyCallbacksId, keepCallback } from '../arrival/callback/early-callbacks.ts'
import type { FlowRow } from '../model/flow-row.ts'
import { given } from '../testkit/given.testkit.ts'
import { idOf, NOW, reported, run, SECOND, waitsForCallback } from '../testkit/nouns.testkit.ts'

const ROW_ID = earlyCallbacksId(run())
const guardOf = (version: number) => ({ type: 'flow', id: ROW_ID, version })

/** The row of the callbacks that came early, by the names of their steps. */
function early(...names: string[]): FlowRow {
  let row: FlowRow | undefined
  for (const name of names) {
    const change = keepCallback(run(), row, { stepId: idOf(name), data: `"of ${name}"`, now: NOW })
    if (change.type === 'flow.saved') row = change.row
  }
  return row as FlowRow
}

describe('a wait without an early post', () => {
  it('parks until its timeout, and rests on there being none', () => {
    const then = given(run()).when(reported(waitsForCallback('approval', { timeoutMs: SECOND })))
    expect(then.step('approval')).toMatchObject({ status: 'waiting', wakeAt: NOW + SECOND })
    expect(then.run).toMatchObject({ status: 'waiting', waitingFor: { kind: 'callback' }, availableAt: NOW + SECOND })
    expect(then.guards).toContainEqual(guardOf(0))
  })
})

describe('a wait whose post came early', () => {
  it('has the data at once, and the row goes with its last post', () => {
    const row = early('approval')
    const then = given(run())
      .early(row)
      .when(reported(waitsForCallback('approval')))
    expect(then.step('approval')).toMatchObject({ status: 'succeeded', data: '"of approval"' })
    expect(then.step('approval').timedOut).toBeUndefined()
    expect(then.changes('flow.deleted')).toEqual([{ type: 'flow.deleted', id: ROW_ID }])
    expect(then.guards).toContainEqual(guardOf(row.version))
  })

  it('shares the row with another wait of its pass', () => {
    const row = early('first', 'second')
    const then = given(run())
      .early(row)
      .when(reported(waitsForCallback('first'), waitsForCallback('second'), waitsForCallback('third')))
    expect(then.steps).toEqual({ first: 'succeeded', second: 'succeeded', third: 'waiting' })
    expect(then.step('second').data).toBe('"of second"')
    expect(then.decision.changes.findLast(({ type }) => type.startsWith('flow.'))?.type).toBe('flow.deleted')
    const guards = then.guards.filter(({ type }) => type === 'flow')
    expect(guards).toEqual(guards.map(() => guardOf(row.version)))
  })
})
