// `match` of triggers, and refused values (docs/events.md#match).

import type { DryRunReply, EventExplanation, RunExplanation } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { flow, run, scenario, step, unique, wait } from '../../kit/index.ts'

const { api, workflow } = await scenario()

const serve = async (registration: Record<string, unknown>) =>
  (await workflow(flow([run('work')]), { registration })).name

/** Registers a workflow with this instead of a valid registration. */
async function refused(registration: object): Promise<unknown> {
  const { status, json } = await api.offer(registration)
  return status === 400 ? (json as { error: { details: unknown } }).error.details : status
}

describe('a trigger with a match', () => {
  test('starts a run for an event with these values, and of these types', async () => {
    const event = unique('order')
    const name = await serve({ triggers: [{ event: `${event}*`, match: { 'data.plan': 'pro', 'data.seats': 3 } }] })
    const starts = async (data: unknown) => (await api.send({ name: event, data })).triggered.map(one => one.workflow)
    expect(await starts({ plan: 'pro', seats: 3, more: [] })).toEqual([name])
    for (const data of [{ plan: 'pro', seats: '3' }, { plan: 'pro' }, { plan: 'Pro', seats: 3 }, 'pro', undefined])
      expect(await starts(data)).toEqual([])
  })

  test('beside `if` needs both', async () => {
    const event = unique('order')
    await serve({ triggers: [{ event, match: { 'data.a': 1 }, if: 'event.data.b > 1' }] })
    const starts = async (data: unknown) => (await api.send({ name: event, data })).triggered.length
    expect(await starts({ a: 1, b: 2 })).toBe(1)
    expect(await starts({ a: 1, b: 1 })).toBe(0)
    expect(await starts({ a: 2, b: 2 })).toBe(0)
  })

  test('is explained: by why, then and now, and by a dry run', async () => {
    const event = unique('order')
    const match = { 'data.plan': 'pro' }
    const name = await serve({ triggers: [{ event, match }] })
    const { eventId } = await api.send({ name: event, data: { plan: 'free' } })
    const trigger = { event, match }
    const why = async (query = '') => (await api.get(`/events/${eventId}/why${query}`)).json as EventExplanation
    const verdict = { workflow: name, outcome: 'filter', trigger }
    expect((await why()).workflows).toMatchObject([
      { ...verdict, sentence: "The event had values that differ from the trigger's match." },
    ])
    expect((await why('?now=1')).workflows).toMatchObject([
      { ...verdict, sentence: "The event has values that differ from the trigger's match." },
    ])
    const dry = (await api.post('/events?dryRun=1', { name: event, data: { plan: 'free' } })).json as DryRunReply
    expect(dry.workflows).toMatchObject([
      { trigger, matches: false, reason: 'the values of the event differ from the match' },
    ])
    const listed = (await api.get('/workflows')).json as { name: string; triggers: unknown }[]
    expect(listed.find(one => one.name === name)?.triggers).toEqual([trigger])
  })
})

test.each([
  [{ triggers: [{ event: 'e', match: 'data.id' }] }, 'workflows[0].triggers[0].match'],
  [{ triggers: [{ event: 'e', match: ['data.id'] }] }, 'workflows[0].triggers[0].match'],
  [{ triggers: [{ event: 'e', match: {} }] }, 'workflows[0].triggers[0].match'],
  [{ triggers: [{ event: 'e', match: { 'data.id == 1': 1 } }] }, 'workflows[0].triggers[0].match'],
  [{ triggers: [{ event: 'e', match: { 'data.id': { a: 1 } } }] }, 'workflows[0].triggers[0].match'],
  [{ triggers: [{ cron: '* * * * *', match: { 'data.id': 1 } }] }, 'workflows[0].triggers[0].match'],
  [{ cancelOn: [{ event: 'e', match: [] }] }, 'workflows[0].cancelOn[0].match'],
  [{ cancelOn: [{ event: 'e', match: {} }] }, 'workflows[0].cancelOn[0].match'],
  [{ cancelOn: [{ event: 'e', match: 'event.data.id' }] }, 'workflows[0].cancelOn[0].match'],
  [{ cancelOn: [{ event: 'e', match: { 'data.id': 'x'.repeat(1025) } }] }, 'workflows[0].cancelOn[0].match'],
  [{ cancelOn: [{ event: 'e', match: 7 }] }, 'workflows[0].cancelOn[0].match'],
  [{ cancelOn: [{ event: 'e', timeout: '0s' }] }, 'workflows[0].cancelOn[0].timeout'],
  [{ cancelOn: [{ event: 'e', timeout: '10' }] }, 'workflows[0].cancelOn[0].timeout'],
  [{ cancelOn: [{ event: 'e', timeout: '200000w' }] }, 'workflows[0].cancelOn[0].timeout'],
])('%j is refused at registration, naming the field', async (registration, field) => {
  expect(await refused(registration)).toMatchObject({ field: expect.stringContaining(field) })
})

test.each([
  ['a path outside of the data', 'id'],
  ['no path', []],
  ['no value', {}],
  ['a long text', { 'data.id': '7'.repeat(1025) }],
])('a wait whose match has %s fails its step', async (_, match) => {
  const { name } = await workflow(flow([step('WaitForEvent', 'bad', { eventName: unique('e'), match })]))
  const { runId } = await api.send({ name })
  // The handler gets the error, and may catch it.
  await api.succeeded(runId)
  expect((await api.step(runId, 'bad')).error).toMatchObject({
    name: 'WaitFilterError',
    message: expect.stringContaining('match must'),
  })
})

test('a filter beside a match is still reported by why when it cannot be evaluated', async () => {
  const event = unique('paid')
  const both = step('WaitForEvent', 'both', { eventName: event, match: { 'data.id': 1 }, if: 'async.data.total > 1' })
  const { name } = await workflow(flow([both, wait('hold', 'nothing')]))
  const { runId } = await api.send({ name })
  await api.reaches(runId, 'waiting')
  await api.send({ name: event, data: { id: 2 } })
  const why = async () => (await api.get(`/runs/${runId}/why`)).json as RunExplanation
  expect((await why()).sentence).not.toContain('could not be evaluated')
  await api.send({ name: event, data: { id: 1 } })
  expect((await why()).sentence).toContain('could not be evaluated')
})
