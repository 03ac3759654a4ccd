// Batch: one run for up to `maxSize` events (docs/flow-control.md#batch).

import { describe, expect, it } from 'vitest'
import type { Batch } from '../model/flow-control.ts'
import { FlowRows } from '../testkit/flow-rows.testkit.ts'
import { given } from '../testkit/given.testkit.ts'
import { catalog, emits, reported, run, workflow } from '../testkit/nouns.testkit.ts'
import { BUFFER_CHARS_MAX } from './buffer.ts'

const batching = (batch: Partial<Batch> = {}) =>
  workflow('add', { flowControl: { batch: { maxSize: 3, timeoutMs: 1000, ...batch } } })
const batched = (batch: Partial<Batch> = {}) => new FlowRows(catalog(batching(batch)))

describe('a batch', () => {
  it('becomes a run with the event that fills it', () => {
    const flow = batched()
    const entry = { workflow: 'add', app: 'shop', batched: true, firstEventId: 'evt_1' }
    expect(flow.post('add', '1', 0, 'r1')).toEqual(entry)
    expect(flow.post('add', '2', 900)).toEqual(entry)
    const last = flow.post('add', '3', 50, 'r3')
    expect(flow.runs).toMatchObject([
      { input: '[1,2,3]', eventId: 'evt_3', trigger: { id: 'evt_3', name: 'add' }, runner: 'r3' },
    ])
    expect(flow.runs[0]?.eventIds).toEqual(['evt_1', 'evt_2', 'evt_3'])
    expect(last).toEqual({ ...entry, runId: flow.runs[0]?.id })
    expect(flow.rows.size).toBe(0)
  })

  it.each([
    ['the event that fills it', (flow: FlowRows) => void flow.post('add', '3')],
    ['its timeout', (flow: FlowRows) => flow.fire(1000)],
    ['the first event after that', (flow: FlowRows) => void flow.post('add', '3', 1000)],
  ])('goes on in the trace of its first event, closed by %s', (_, close) => {
    const flow = batched()
    flow.trace = '1'
    flow.post('add', '1')
    flow.trace = '2'
    flow.post('add', '2')
    close(flow)
    expect(flow.runs).toMatchObject([{ trace: '1' }])
  })

  it('continues no trace when its first event has none', () => {
    const flow = batched()
    flow.post('add', '1')
    flow.trace = '2'
    flow.post('add', '2')
    flow.fire(1000)
    expect(flow.runs).toHaveLength(1)
    expect(flow.runs[0]).not.toHaveProperty('trace')
  })

  it('becomes a run at the timeout, counted from its first event', () => {
    const flow = batched()
    flow.post('add', '1')
    flow.post('add', '2', 900)
    flow.fire(99)
    expect(flow.runs).toEqual([])
    flow.fire(1)
    expect(flow.runs).toMatchObject([{ input: '[1,2]', eventId: 'evt_2', createdAt: flow.now }])
    expect(flow.rows.size).toBe(0)
  })

  it('is bounded in text: a payload that does not fit opens another', () => {
    const flow = batched()
    const half = JSON.stringify('x'.repeat(BUFFER_CHARS_MAX / 2))
    flow.post('add', half)
    expect(flow.post('add', half)?.runId).toBeUndefined()
    expect(flow.inputs).toEqual([[JSON.parse(half)]])
    flow.post('add', '2')
    flow.fire(1000)
    expect(flow.inputs[1]).toEqual([JSON.parse(half), 2])
  })

  it('takes a payload that is larger than the bound alone', () => {
    const flow = batched()
    flow.post('add', JSON.stringify('x'.repeat(BUFFER_CHARS_MAX)))
    flow.fire(1000)
    expect(flow.runs).toHaveLength(1)
  })
})

describe('events emitted in one pass', () => {
  const emitted = (...payloads: number[]) =>
    given(run())
      .registered(workflow('order'), batching({ maxSize: 2 }))
      .when(reported(...payloads.map(n => emits(`tell ${n}`, 'add', `${n}`))))

  it('go into one batch, and into the next when it is full', () => {
    const then = emitted(1, 2, 3)
    expect(then.created?.input).toBe('[1,2]')
    expect(then.changes('flow.saved').at(-1)?.row.state).toContain('[3]')
    expect(then.changes('event.recorded').map(({ event }) => event.triggered[0]?.runId)).toEqual([
      undefined,
      then.created?.id,
      undefined,
    ])
  })

  it('rest on one state of the row', () => {
    const guards = emitted(1, 2, 3).guards.filter(({ type }) => type === 'flow')
    expect(new Set(guards.map(guard => JSON.stringify(guard))).size).toBe(1)
  })
})
