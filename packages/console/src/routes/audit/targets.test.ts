import { expect, test } from 'vitest'
import { isAbout, restOf, targetOf } from './targets.ts'

test.each([
  ['endpoint.update', { id: 'whe_1' }, 'whe_1', { to: 'endpoint', params: { id: 'whe_1' } }],
  ['receiver.delete', { id: 'whr_1' }, 'whr_1', { to: 'receiver', params: { id: 'whr_1' } }],
  ['key.revoke', { id: 'key_1', kind: 'read', label: 'ada' }, 'ada', { to: 'keys', query: { id: 'key_1' } }],
  ['schedule.fire', { id: 'weekly', eventId: 'evt_1' }, 'weekly', { to: 'schedules' }],
  ['event.redrive', { eventId: 'evt_1' }, 'evt_1', { to: 'event', params: { id: 'evt_1' } }],
  ['buffer.flush', { app: 'a', workflow: 'w' }, 'w', { to: 'workflow', params: { app: 'a', name: 'w' } }],
  ['app.delete', { app: 'a', force: true }, 'a', { to: 'workflows', query: { app: 'a' } }],
  ['bulk.cancel', { bulkId: 'blk_1', done: 3 }, 'blk_1', { to: 'bulk', params: { id: 'blk_1' } }],
  ['view.put', { id: 'v1', name: 'failed today' }, 'failed today', { to: 'runs' }],
  ['error.resolve', { fingerprint: 'f1' }, 'f1', { to: 'errorGroup', params: { fingerprint: 'f1' } }],
  ['scheduled_event.delete', { id: 'evt_2' }, 'evt_2', undefined],
] as const)('%s is about %j', (action, detail, text, target) => {
  expect(targetOf({ action, detail })).toEqual(target === undefined ? { text } : { text, target })
})

test('nothing is made of an action on a run, and of a detail that has other members', () => {
  expect(targetOf({ action: 'retry_from_step', detail: { step: 'charge' } })).toBeUndefined()
  for (const detail of [undefined, null, 'x', { id: 5 }, []])
    expect(targetOf({ action: 'endpoint.create', detail })).toBeUndefined()
})

test.each([
  ['schedule.put', { id: 'weekly' }, undefined],
  ['key.revoke', { id: 'key_1', kind: 'read', label: 'ada' }, { id: 'key_1', kind: 'read' }],
  ['workflow.pause', { app: 'a', workflow: 'a' }, { app: 'a' }],
  ['workflow.limits', { app: 'a', workflow: 'a', concurrency: 1 }, { app: 'a', concurrency: 1 }],
  ['bulk.cancel', { bulkId: 'blk_1', done: 3 }, { done: 3 }],
  ['replay', { bulkId: 'blk_1' }, { bulkId: 'blk_1' }],
  ['retry_from_step', undefined, undefined],
] as const)('the detail of %s, %j, has no second name of what it is about', (action, detail, rest) => {
  expect(restOf({ action, detail })).toEqual(rest)
})

test('an entry is about the ids in its detail', () => {
  const entry = { id: 'act_1', detail: { id: 'whe_1', deliveryId: 'dlv_1' } } as const
  expect(['act_1', 'whe_1', 'dlv_1', 'whe_2'].map(id => isAbout(entry, id))).toEqual([true, true, true, false])
  expect(isAbout({ id: 'act_2', detail: undefined }, 'whe_1')).toBe(false)
})
