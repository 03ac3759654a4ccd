// Idempotency: the first event with a key passes and claims it; later ones within the time are repeats.

import { describe, expect, it } from 'vitest'
import { type FlowRow, flowRowId } from '../model/flow-row.ts'
import { arrives, changesOf, under } from '../testkit/arrivals.testkit.ts'
import { HOUR, NOW } from '../testkit/nouns.testkit.ts'

const once = under({ idempotency: { key: 'event.data.id', ttlMs: HOUR } })
const of = { namespace: 'default', app: 'shop', workflow: 'order', policy: 'idempotency', key: 'a' } as const
const id = flowRowId(of)
const claimed = (expiresAt: number): FlowRow => ({ ...of, id, version: 7, expiresAt, state: '{}' })
const arrive = (row: FlowRow | null | undefined, workflow = once) =>
  arrives({ id: 'a' }, { flow: new Map(row === undefined ? [] : [[id, row]]) }, [workflow])

describe('the first event with a key', () => {
  it('starts its run and claims the key, guarded by there being no claim', () => {
    const { guards, triggered, ...rest } = arrive(undefined)
    expect(triggered).toEqual([{ workflow: 'order', app: 'shop', runId: expect.any(String) }])
    expect(guards).toContainEqual({ type: 'flow', id, version: 0 })
    expect(changesOf(rest, 'flow.saved')).toMatchObject([{ row: { ...of, key: '', id, expiresAt: NOW + HOUR } }])
  })

  it('takes over an expired claim, guarded by its version', () => {
    const { guards, triggered, ...rest } = arrive(claimed(NOW))
    expect(triggered[0]?.runId).toBeDefined()
    expect(guards).toContainEqual({ type: 'flow', id, version: 7 })
    expect(changesOf(rest, 'flow.saved')).toMatchObject([{ row: { version: 8, expiresAt: NOW + HOUR } }])
  })
})

describe('a repeat', () => {
  it('is marked as deduped, and starts nothing', () => {
    const { triggered, ...rest } = arrive(claimed(NOW + 1))
    expect(triggered).toEqual([{ workflow: 'order', app: 'shop', deduped: true }])
    expect(changesOf(rest, 'run.created')).toEqual([])
    expect(changesOf(rest, 'flow.saved')).toEqual([])
  })

  it('takes no token of a rate limit: the claim is read before a token is taken', () => {
    const limited = under({ ...once.flowControl, rateLimit: { limit: 1, periodMs: 1000 } })
    expect(arrive(undefined, limited).questions).toEqual([{ type: 'flow', id }])
    expect(arrive(null, limited).questions).toMatchObject([{ type: 'take' }])
    expect(arrive(claimed(NOW + 1), limited).questions).toEqual([])
  })
})

it('a key is a claim of its own, however long it is', () => {
  const claim = (id: string) => changesOf(arrives({ id }, {}, [once]), 'flow.saved')[0]?.row.id
  expect(claim('x'.repeat(256))).toBe(flowRowId({ ...of, key: 'x'.repeat(256) }))
  expect(new Set(['x'.repeat(256), 'x'.repeat(257), 'x'.repeat(258)].map(claim)).size).toBe(3)
})
