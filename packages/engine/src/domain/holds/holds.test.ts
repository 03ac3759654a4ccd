// The holds of a new run: slots, throttle, priority and timeouts, evaluated over its event.

import { describe, expect, it } from 'vitest'
import type { FilterFault } from '../expressions/matching.ts'
import type { ConcurrencyScope, FlowControl } from '../model/flow-control.ts'
import type { Run } from '../model/run.ts'
import { childRun, eventRun, forkedRun, onFailureRun } from '../run/create.ts'
import { endedRun, NOW, run, workflow } from '../testkit/nouns.testkit.ts'

const faults: FilterFault[] = []
const report = (fault: FilterFault) => void faults.push(fault)

function begun(
  flowControl: FlowControl,
  data = '{"user":"ada","n":3}',
  fields: { name?: string; app?: string } = {},
): Run {
  const { name = 'order', app = 'shop' } = fields
  const event = { namespace: 'default', id: 'evt_1', name: 'order.placed', receivedAt: NOW, data }
  return eventRun({ event, workflow: workflow(name, { app, flowControl }), report })
}

const slotIds = (run: Run) => run.holds?.slots?.map(({ id }) => id)
const limited = (scope: ConcurrencyScope = 'workflow', key?: string) => ({
  concurrency: [{ limit: 2, scope, ...(key === undefined ? {} : { key }) }],
})

describe('slots', () => {
  it('name their limit and the value of their key', () => {
    expect(begun(limited('workflow', 'event.data.user')).holds?.slots).toMatchObject([{ limit: 2, key: 'ada' }])
    expect(begun(limited()).holds?.slots?.[0]).not.toHaveProperty('key')
  })

  it.each<[ConcurrencyScope, boolean, boolean]>([
    ['workflow', false, false],
    ['app', true, false],
    ['namespace', true, true],
  ])('of scope %s: shared within the app %s, beyond it %s', (scope, withinApp, beyond) => {
    const own = slotIds(begun(limited(scope, 'event.data.user')))
    const sibling = slotIds(begun(limited(scope, 'event.data.user'), undefined, { name: 'refund' }))
    const stranger = slotIds(begun(limited(scope, 'event.data.user'), undefined, { app: 'bank' }))
    expect([own?.[0] === sibling?.[0], own?.[0] === stranger?.[0]]).toEqual([withinApp, beyond])
  })

  it('of two limits on different keys stay apart although the values are the same', () => {
    const concurrency = ['event.data.a', 'event.data.b'].map(key => ({
      limit: 1,
      key,
      scope: 'workflow' as const,
    }))
    expect(new Set(slotIds(begun({ concurrency }, '{"a":1,"b":1}'))).size).toBe(2)
  })

  it('of an app are shared by value, however the key is written', () => {
    const [a, b] = ['event.data.a', 'event.data.b'].map(key => slotIds(begun(limited('app', key), '{"a":1,"b":1}')))
    expect(a).toEqual(b)
  })

  it('that two limits share count once, by the tighter one', () => {
    const concurrency = [5, 2, 9].map(limit => ({ limit, scope: 'app' as const }))
    expect(begun({ concurrency }).holds?.slots).toMatchObject([{ limit: 2 }])
  })
})

describe('a key or priority that cannot be evaluated', () => {
  it('is reported, and counts as one constant: no policy is skipped', () => {
    faults.length = 0
    const concurrency = [{ limit: 1, key: 'event.data.gone', scope: 'workflow' as const }]
    const throttle = { limit: 1, periodMs: 9, burst: 0, key: 'event.data.gone' }
    const made = begun({ concurrency, throttle, priority: 'event.data.gone' })
    expect(made.holds).toMatchObject({ slots: [{ key: '' }], throttle: { key: '' } })
    expect(made.priority).toBeUndefined()
    expect(faults.map(({ of, filter }) => [of, filter])).toEqual(
      [1, 2, 3].map(() => [{ app: 'shop', workflow: 'order' }, 'event.data.gone']),
    )
  })
})

it.each<[string, number | undefined]>([
  ['event.data.n', 3],
  ['-event.data.n', -3],
  ['event.data.n - 3', undefined],
  ['1e9', 1e6],
  ['-1e9', -1e6],
])('the priority %s is %s', (priority, expected) => {
  expect(begun({ priority }).priority).toBe(expected)
})

describe('which runs are held', () => {
  const flowControl: FlowControl = {
    ...limited('workflow', 'event.data.user'),
    timeouts: { queueMs: 5, runMs: 7 },
    priority: 'event.data.n',
  }
  const under = { workflow: workflow('order', { flowControl }), report }

  it('a child is, over its own input', () => {
    const child = childRun({
      parent: run(),
      step: { id: 's', index: 0 },
      app: 'shop',
      workflow: 'order',
      input: '{"user":"eve","n":1}',
      now: NOW,
      under,
    })
    expect(child).toMatchObject({
      holds: { slots: [{ key: 'eve' }], queueTimeoutMs: 5, runTimeoutMs: 7 },
      priority: 1,
    })
  })

  it('a fork is, over the input that it was given', () => {
    const options = { id: 'run_2', input: '{"user":"eve","n":2}', now: NOW, under }
    expect(forkedRun({ ...options, source: endedRun('failed') })).toMatchObject({
      holds: { slots: [{ key: 'eve' }] },
      priority: 2,
    })
    expect(forkedRun({ ...options, source: endedRun('failed', { failure: { message: 'no' } }) })).not.toHaveProperty(
      'holds',
    )
  })

  it('an on-failure run is not: it cleans up at once, with the priority of the one it follows', () => {
    const failed = run({ holds: { runTimeoutMs: 7 }, priority: 4 })
    const follows = onFailureRun(failed, { message: 'no' }, NOW)
    expect(follows).not.toHaveProperty('holds')
    expect(follows.priority).toBe(4)
  })
})

describe('fairness', () => {
  const fair = (data: string, weight?: string) =>
    begun({ ...limited(), fairness: { key: 'event.data.user', ...(weight === undefined ? {} : { weight }) } }, data)
      .holds?.fairness

  it('has the value of its key, as long as an index takes it', () => {
    expect(fair('{"user":"ada"}')).toEqual({ key: 'ada', weight: 1 })
    const [long, longer] = ['x'.repeat(3000), 'x'.repeat(3001)].map(user => fair(JSON.stringify({ user }))?.key)
    expect(long).toMatch(/^sha256:.{43}$/)
    expect(longer).not.toBe(long)
  })

  it('has an empty key where it cannot be evaluated, and a weight of 1 outside the bounds', () => {
    expect(fair('{}')).toEqual({ key: '', weight: 1 })
    for (const n of [0, -1, 0.001, 1001, '"heavy"'])
      expect(fair(`{"user":"ada","n":${n}}`, 'event.data.n')?.weight).toBe(1)
    for (const n of [0.01, 3, 1000]) expect(fair(`{"user":"ada","n":${n}}`, 'event.data.n')?.weight).toBe(n)
    expect(begun({ fairness: { key: 'event.data.user' } }).holds).toBeUndefined()
  })
})
