// However many expressions decisions evaluate, one turn of the event loop takes a bounded share of their work, and the results
// are the same as when decisions are made at once.

import { expect, test } from 'vitest'
import { type Fanout, fanout } from '../../domain/arrival/fanout.ts'
import { TURN_COST } from '../../domain/expressions/evaluations.ts'
import { WORK_MAX, workDone } from '../../domain/expressions/meter.ts'
import type { FlowControl } from '../../domain/model/flow-control.ts'
import { noAssumptions } from '../../domain/run/assumptions.ts'
import { given } from '../../domain/testkit/given.testkit.ts'
import {
  catalog,
  emits,
  event,
  NOW,
  reported,
  run,
  runsChild,
  waitsFor,
  workflow,
} from '../../domain/testkit/nouns.testkit.ts'
import { describeFanout } from '../../domain/why/dry-run.ts'
import { decideInTurns } from './turns.ts'

const DATA = { items: Array.from({ length: 60 }, (_, i) => i) }
/** Work of half the maximum; the name makes each expression different. */
const costly = (name: string) => `event.data.items.all(x, event.data.items.all(y, x + y >= 0)) ? "${name}" : ""`

/** Every policy with an expression that a workflow can have at once. */
const policies = (name: string): FlowControl => ({
  idempotency: { key: costly(`${name}-i`), ttlMs: 1000 },
  singleton: { key: costly(`${name}-s`), mode: 'skip' },
  concurrency: [{ limit: 1, key: costly(`${name}-c`), scope: 'workflow' }],
  throttle: { limit: 1, periodMs: 1000, burst: 0, key: costly(`${name}-t`) },
  priority: `event.data.items.all(x, event.data.items.all(y, x + y >= 0)) ? ${name.length} : 0`,
})

const triggers = [{ event: 'order.placed' }]
const WORKFLOWS = Array.from({ length: 6 }, (_, i) => workflow(`w${i}`, { triggers, flowControl: policies(`w${i}`) }))
const FILTER = 'async.data.items.all(x, async.data.items.all(y, x + y >= event.data.least))'
const watching = Array.from({ length: 8 }, (_, i) => ({
  runId: `run_${i}`,
  stepIndex: 0,
  since: 0,
  condition: { filter: FILTER, trigger: { name: 'began', data: `{"least":${i % 2}}` } },
}))

const input = {
  event: event('evt_1', 'order.placed', { data: JSON.stringify(DATA), receivedAt: NOW }),
  catalog: catalog(...WORKFLOWS),
  assumptions: {
    ...noAssumptions(),
    waiters: new Map([['order.placed', watching]]),
    watchers: new Map([['order.placed', { watchers: watching, after: 1 }]]),
  },
  report: () => {},
}

/** Maximum units of work between two turns of the event loop, and the number of turns. */
async function workPerTurn(work: () => Promise<unknown>): Promise<{ most: number; turns: number }> {
  let [most, turns, from, isOver] = [0, 0, workDone(), false]
  const count = () => {
    turns++
    most = Math.max(most, workDone() - from)
    from = workDone()
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await work()
  isOver = true
  return { most: Math.max(most, workDone() - from), turns }
}

/** Twice the share and the evaluation that uses it up, since the counter may take two turns of the loop for one. */
const MOST = 2 * (TURN_COST + WORK_MAX)

test('an event with many keys, waits and cancels is decided over many turns, as at once', async () => {
  const expected = fanout(input)
  let decided: Fanout | undefined
  const { most, turns } = await workPerTurn(async () => {
    decided = await decideInTurns('default', () => fanout(input))
  })
  expect(decided).toEqual(expected)
  expect(decided?.triggered.every(({ runId }) => runId)).toBe(true)
  expect(decided?.changes.filter(({ type }) => type === 'run.cancelRequested')).toHaveLength(4)
  expect(most).toBeLessThanOrEqual(MOST)
  expect(turns).toBeGreaterThan(10)
})

test('a dry run is described over many turns', async () => {
  const decided = fanout(input)
  const expected = describeFanout(input, decided)
  const { most } = await workPerTurn(async () => {
    expect(await decideInTurns('default', () => describeFanout(input, decided))).toEqual(expected)
  })
  expect(most).toBeLessThanOrEqual(MOST)
})

test('the emits, waits and children of one pass are decided over many turns, as at once', async () => {
  const items = JSON.stringify(DATA)
  const emitted = ['a', 'b', 'c'].map(name => emits(name, 'order.placed', items))
  const looksBack = waitsFor('w', 'order.placed', { if: FILTER })
  const advance = () =>
    given(run({ input: '{"least":0}' }))
      .registered(...WORKFLOWS, workflow('order'))
      .when(reported(...emitted, looksBack, runsChild('child', 'w0', { data: items })))
  const expected = advance()
  const { most, turns } = await workPerTurn(async () => {
    const decided = await decideInTurns('default', advance)
    expect(decided.written).toEqual(expected.written)
    expect(decided.step('w')).toEqual(expected.step('w'))
  })
  expect(most).toBeLessThanOrEqual(MOST)
  expect(turns).toBeGreaterThan(10)
})

test('many such events at once share each turn, and another namespace does not wait for all of them', async () => {
  const small = { ...input, catalog: catalog(WORKFLOWS[0] as never) }
  let over = 0
  const { most } = await workPerTurn(async () => {
    const hostile = Array.from({ length: 10 }, async () => {
      await decideInTurns('hostile', () => fanout(small))
      over++
    })
    await decideInTurns('other', () => fanout(small))
    expect(over).toBeLessThan(5)
    await Promise.all(hostile)
  })
  expect(most).toBeLessThanOrEqual(MOST)
})

test('an error of a decision reaches the caller, also in a later turn', async () => {
  const broken = () => {
    fanout(input)
    throw new Error('broken')
  }
  await expect((async () => decideInTurns('default', broken))()).rejects.toThrow('broken')
})
