// Debounce: one run for a burst of events (docs/flow-control.md#debounce).

import { describe, expect, it } from 'vitest'
import type { Debounce } from '../model/flow-control.ts'
import type { FlowRow } from '../model/flow-row.ts'
import { FlowRows } from '../testkit/flow-rows.testkit.ts'
import { catalog, NOW, workflow } from '../testkit/nouns.testkit.ts'
import { BUFFER_CHARS_MAX, BUFFER_EVENT_IDS_MAX, bufferView, DEBOUNCE_COUNT_MAX } from './buffer.ts'

const debounced = (debounce: Partial<Debounce> = {}) =>
  new FlowRows(catalog(workflow('save', { flowControl: { debounce: { periodMs: 1000, mode: 'last', ...debounce } } })))

describe('a burst', () => {
  it('becomes one run, of its last event, once no event arrived for the period', () => {
    const flow = debounced()
    for (const n of [1, 2, 3]) expect(flow.post('save', `${n}`, 600)).toMatchObject({ debounced: true })
    expect(flow.runs).toEqual([])
    flow.fire(999)
    expect(flow.runs).toEqual([])
    flow.fire(1)
    expect(flow.runs).toMatchObject([
      {
        workflow: 'save',
        triggerKind: 'event',
        eventId: 'evt_3',
        eventName: 'save',
        trigger: { id: 'evt_3', name: 'save' },
        input: '3',
        createdAt: flow.now,
      },
    ])
    expect(flow.rows.size).toBe(0)
  })

  it('gives its events no run id, but the event that opened it', () => {
    const flow = debounced()
    const entry = { workflow: 'save', app: 'shop', debounced: true, firstEventId: 'evt_1' }
    expect([flow.post('save', '1'), flow.post('save', '2')]).toEqual([entry, entry])
  })

  it('keeps the ids of its first events, and of the last', () => {
    const flow = debounced()
    for (let n = 1; n <= BUFFER_EVENT_IDS_MAX + 5; n++) flow.post('save', `${n}`)
    const shown = bufferView([...flow.rows.values()][0] as FlowRow)
    expect(shown).toMatchObject({ count: 1005, firstEventId: 'evt_1', lastEventId: 'evt_1005' })
    flow.fire(1000)
    const ids = flow.runs[0]?.eventIds
    expect([ids?.length, ids?.at(-2), ids?.at(-1)]).toEqual([1000, 'evt_999', 'evt_1005'])
  })

  it('that does not end becomes a run at the timeout', () => {
    const flow = debounced({ timeoutMs: 2500 })
    for (const n of [1, 2, 3]) flow.post('save', `${n}`, n === 1 ? 0 : 900)
    flow.fire(700)
    expect(flow.inputs).toEqual([3])
    expect(flow.now).toBe(NOW + 2500)
  })

  it('with mode first is that of its first event, and its runner', () => {
    const flow = debounced({ mode: 'first' })
    flow.post('save', '1', 0, 'r1')
    flow.post('save', '2', 900, 'r2')
    flow.fire(999)
    expect(flow.runs).toEqual([])
    flow.fire(1)
    expect(flow.runs).toMatchObject([{ input: '1', eventId: 'evt_1', runner: 'r1' }])
  })

  it('continues no trace of an earlier event, nor of one after it', () => {
    const flow = debounced()
    flow.trace = '1'
    flow.post('save', '1')
    flow.trace = undefined
    flow.post('save', '2')
    flow.trace = '3'
    flow.post('save', '3', 1000)
    expect(flow.runs).toMatchObject([{ eventId: 'evt_2' }])
    expect(flow.runs[0]).not.toHaveProperty('trace')
    flow.fire(1000)
    expect(flow.runs[1]).toMatchObject({ eventId: 'evt_3', trace: '3' })
  })

  it('with mode all has every payload unchanged, and names the last event', () => {
    const flow = debounced({ mode: 'all' })
    flow.post('save', '{"n": 1.0}')
    flow.post('save', undefined)
    flow.post('save', '"[,"')
    flow.fire(1000)
    expect(flow.runs).toMatchObject([{ input: '[{"n": 1.0},null,"[,"]', eventId: 'evt_3' }])
  })

  it('of events without data has none', () => {
    const flow = debounced()
    flow.post('save', '1')
    flow.post('save', undefined)
    flow.fire(1000)
    expect(flow.runs[0]?.input).toBeUndefined()
  })

  it('is separate for each key', () => {
    const flow = debounced({ key: 'event.data.user' })
    flow.post('save', '{"user":"a","n":1}')
    flow.post('save', '{"user":"b","n":2}', 500)
    flow.post('save', '{"user":"a","n":3}')
    flow.fire(1000)
    expect(flow.inputs).toEqual(
      expect.arrayContaining([
        { user: 'a', n: 3 },
        { user: 'b', n: 2 },
      ]),
    )
    expect(flow.runs).toHaveLength(2)
  })
})

describe('the payloads of mode all are bounded', () => {
  it('in number: the last one that fits starts the run', () => {
    const flow = debounced({ mode: 'all' })
    for (let n = 1; n < DEBOUNCE_COUNT_MAX; n++) flow.post('save', `${n}`)
    expect(flow.runs).toEqual([])
    expect(flow.post('save', '0')).toMatchObject({ debounced: true, runId: flow.runs[0]?.id })
    expect(flow.inputs[0]).toHaveLength(DEBOUNCE_COUNT_MAX)
    expect(flow.rows.size).toBe(0)
  })

  it('in text: a payload that does not fit opens another burst', () => {
    const flow = debounced({ mode: 'all' })
    const half = JSON.stringify('x'.repeat(BUFFER_CHARS_MAX / 2 - 4))
    flow.post('save', half)
    flow.post('save', half)
    expect(flow.runs).toEqual([])
    flow.post('save', '7')
    expect(flow.inputs).toEqual([[JSON.parse(half), JSON.parse(half)]])
    flow.fire(1000)
    expect(flow.inputs[1]).toEqual([7])
  })
})

describe('a burst under way', () => {
  it('becomes a run also when the policy has gone', () => {
    const flow = debounced()
    flow.post('save', '1')
    flow.catalog = catalog(workflow('save'))
    flow.fire(1000)
    expect(flow.inputs).toEqual([1])
  })

  it('is dropped with its workflow', () => {
    const flow = debounced()
    flow.post('save', '1')
    flow.catalog = catalog()
    flow.fire(1000)
    expect(flow.runs).toEqual([])
    expect(flow.rows.size).toBe(0)
  })

  it('waits while its namespace is suspended', () => {
    const flow = debounced()
    flow.post('save', '1')
    flow.suspended = true
    flow.fire(1000)
    flow.fire(60_000)
    expect(flow.runs).toEqual([])
    flow.suspended = false
    flow.fire(60_000)
    expect(flow.inputs).toEqual([1])
  })

  it('ends when the mode changes to or from all: new events open another', () => {
    const flow = debounced()
    flow.post('save', '1')
    flow.catalog = debounced({ mode: 'all' }).catalog
    flow.post('save', '2')
    expect(flow.inputs).toEqual([1])
    flow.fire(1000)
    expect(flow.inputs).toEqual([1, [2]])
  })
})
