// Slots that a run keeps until it ends: when it holds them, and which runs take them over.

import { describe, expect, it } from 'vitest'
import type { Slot } from '../model/flow-control.ts'
import { childRun } from '../run/create.ts'
import { given, givenLoaded } from '../testkit/given.testkit.ts'
import { endedRun, idleRun, NOW, returned, run, SECOND, sleeps, workflow } from '../testkit/nouns.testkit.ts'
import { handOverToLink, heldByAncestors, heldSlots } from './kept-slots.ts'

const kept = (id: string, limit = 1): Slot => ({ id, limit, kept: true })
const passing: Slot = { id: 'p', limit: 1 }
const slots = [kept('k'), passing]
const fresh = { startedAt: undefined, startedSeq: undefined }

describe('a run that keeps a slot', () => {
  it('frees only its other slots when it parks or is given back, and all of them at its end', () => {
    const held = given(run({ holds: { slots } }))
    const freed = (slotIds: string[]) => [{ type: 'slots.freed', slotIds, at: NOW }]
    expect(held.when({ kind: 'opcodes', opcodes: [sleeps('nap', SECOND)], logs: [] }).changes('slots.freed')).toEqual(
      freed(['p']),
    )
    expect(held.whenGivenBack().changes('slots.freed')).toEqual(freed(['p']))
    expect(held.when(returned('1')).changes('slots.freed')).toEqual(freed(['k', 'p']))
    expect(
      givenLoaded(idleRun('paused', { holds: { slots } }))
        .whenCancelled()
        .changes('slots.freed'),
    ).toEqual(freed(['k', 'p']))
  })

  it.each([
    ['leased', run({ holds: { slots } }), ['k', 'p']],
    ['leased and not started', run({ holds: { slots }, ...fresh }), ['k', 'p']],
    ['leased without slots', run({ holds: { slots }, leasedWithoutSlots: true }), ['k']],
    ['waiting', idleRun('waiting', { holds: { slots } }), ['k']],
    ['paused', idleRun('paused', { holds: { slots } }), ['k']],
    ['not started', idleRun('queued', { holds: { slots }, ...fresh }), []],
    ['ended', endedRun('failed', { holds: { slots } }), []],
  ])('holds, %s', (_, of, ids) => {
    expect(heldSlots(of).map(({ id }) => id)).toEqual(ids)
  })
})

describe('a run that follows in the commit of the end', () => {
  it('holds the kept slots from its creation, and no others', () => {
    const follower = { ...idleRun('queued', fresh), ...handOverToLink(run({ holds: { slots } }), undefined) }
    expect(follower.holds).toEqual({ slots: [kept('k')], fromBirth: true })
    expect(heldSlots(follower)).toEqual([kept('k')])
    expect(handOverToLink(follower, undefined)).toEqual({ holds: follower.holds })
  })

  it('as the next link stays in the slots of its chain, and has its own passing ones and its throttle', () => {
    const throttle = { id: 't', limit: 1, periodMs: 1, burst: 0 }
    const own = { slots: [kept('other key'), { id: 'q', limit: 2 }], throttle }
    const ancestors = { k: ['run_0'] }
    expect(handOverToLink(run({ holds: { slots, ancestors } }), own)).toEqual({
      holds: { slots: [kept('k'), { id: 'q', limit: 2 }], throttle, fromBirth: true, ancestors },
    })
    expect(handOverToLink(run({ holds: { slots: [passing] } }), own)).toEqual({})
    expect(handOverToLink(run({ holds: { ancestors } }), own)).toEqual({ holds: { ...own, ancestors } })
  })
})

describe('a child', () => {
  const flowControl = (limit: number) => ({
    concurrency: [{ limit, scope: 'app' as const, key: 'event.data.user', hold: 'run' as const }],
  })
  const start = (parent: ReturnType<typeof run>, limit: number, user = 'ada', id = 's') =>
    childRun({
      ...{ parent, step: { id, index: 0 }, app: 'shop', workflow: 'order', input: JSON.stringify({ user }), now: NOW },
      under: { workflow: workflow('order', { flowControl: flowControl(limit) }) },
    })
  const started = (of: ReturnType<typeof run>) => ({ ...of, startedAt: NOW })
  const top = (limit: number) => started(start(run(), limit))

  it('would wait for ever if its ancestors fill its slot', () => {
    const limits = flowControl(1).concurrency
    const error = heldByAncestors(start(top(1), 1), limits)
    expect(error).toMatchObject({ name: 'SlotHeldByParentError', code: 'conflict' })
    expect(error?.message).toContain('"ada"')
    expect(heldByAncestors(start(top(1), 1, 'eve'), limits)).toBeUndefined()
    expect(heldByAncestors(start(run(), 1), limits)).toBeUndefined()
  })

  it('counts all its ancestors, also over one without slots', () => {
    const middle = started(start(top(2), 2, 'ada', 'm'))
    expect(heldByAncestors(middle, flowControl(2).concurrency)).toBeUndefined()
    const plain = started(childRun({ ...base(middle), under: { workflow: undefined } }))
    expect(heldByAncestors(start(plain, 2), flowControl(2).concurrency)).toBeDefined()
    expect(heldByAncestors(start(plain, 2), flowControl(3).concurrency)).toBeUndefined()
  })

  it('of a run that keeps no slot carries nothing', () => {
    const parent = run({ holds: { slots: [passing] } })
    expect(childRun({ ...base(parent), under: { workflow: undefined } })).not.toHaveProperty('holds')
  })

  const base = (parent: ReturnType<typeof run>) => ({
    ...{ parent, step: { id: 'x', index: 0 }, app: 'shop', workflow: 'plain', input: undefined, now: NOW },
  })
})
