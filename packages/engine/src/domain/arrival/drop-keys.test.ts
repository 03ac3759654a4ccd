// Policies that drop events do not apply to an event without a key: the event starts its run, is reported, and gets a warning.

import { describe, expect, it } from 'vitest'
import type { FilterFault } from '../expressions/matching.ts'
import type { FlowControl } from '../model/flow-control.ts'
import { arrives, changesOf, under } from '../testkit/arrivals.testkit.ts'
import { HOUR } from '../testkit/nouns.testkit.ts'

const key = 'event.data.id'
const POLICIES: FlowControl[] = [
  { idempotency: { key, ttlMs: HOUR } },
  { rateLimit: { limit: 1, periodMs: HOUR, key } },
  { singleton: { mode: 'skip', key } },
  { singleton: { mode: 'cancel', key } },
  { debounce: { periodMs: HOUR, mode: 'last', key } },
]

describe.each(POLICIES)('%j', flowControl => {
  const policy = Object.keys(flowControl)[0] as string

  it.each([
    [{}, 'No such key: id'],
    [{ id: null }, 'the key evaluates to null'],
    [{ id: [] }, 'the key evaluates to a list'],
    [{ id: {} }, 'the key evaluates to a map'],
  ])('does not apply to an event with the data %j', (data, reason) => {
    const faults: FilterFault[] = []
    const spread = arrives(data, {}, [under(flowControl)], { report: fault => faults.push(fault) })
    expect(spread.questions).toEqual([])
    expect(spread.triggered).toEqual([{ workflow: 'order', app: 'shop', runId: expect.any(String) }])
    expect(changesOf(spread, 'flow.saved')).toEqual([])
    expect(spread.guards.filter(({ type }) => type === 'live' || type === 'flow')).toEqual([])
    expect(changesOf(spread, 'run.created')[0]?.run).not.toHaveProperty('singletonKey')
    expect(faults).toMatchObject([{ of: { app: 'shop', workflow: 'order' }, filter: key, policy }])
    expect(faults[0]?.error).toContain(reason)
    expect(spread.warnings).toEqual([
      `workflow "order" of app "shop": ${policy} does not apply to this event, because of its key: ${faults[0]?.error}`,
    ])
  })
})

it('a debounce with mode all starts the run of a list of one payload', () => {
  const all = under({ debounce: { periodMs: HOUR, mode: 'all', key } })
  expect(changesOf(arrives({ n: 1 }, {}, [all]), 'run.created')).toMatchObject([{ run: { input: '[{"n":1}]' } }])
})

it('a policy that collects keeps such events together', () => {
  const batched = under({ batch: { maxSize: 2, timeoutMs: HOUR, key } })
  const spread = arrives({}, {}, [batched])
  expect(changesOf(spread, 'flow.saved')).toMatchObject([{ row: { key: '' } }])
  expect(spread.warnings).toEqual([])
})
