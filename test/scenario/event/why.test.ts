// `GET /events/{id}/why`: the effect of an event at each workflow, as decided then or as decided now
// (docs/events.md#why-an-event-did-what-it-did).

import type { EventExplanation, EventVerdict } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { flow, type Handler, run, scenario, step, unique, until, wait } from '../../kit/index.ts'

const { api, clock, workflow } = await scenario()

async function why(eventId: string | undefined, query = ''): Promise<EventExplanation> {
  const answer = await api.get(`/events/${eventId}/why${query}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.json as EventExplanation
}

const verdicts = ({ workflows }: EventExplanation) => workflows.map(({ workflow, outcome }) => [workflow, outcome])

async function onlyVerdict(eventId: string | undefined, query = ''): Promise<EventVerdict> {
  const { workflows } = await why(eventId, query)
  expect(workflows).toHaveLength(1)
  return workflows[0] as EventVerdict
}

async function serve(registration: Record<string, unknown> = {}, handler: Handler = flow([run('work')])) {
  return workflow(handler, { registration })
}

describe('what was decided then', () => {
  test('a run that was started, a filter that was false, one that could not be evaluated', async () => {
    const event = unique('order')
    const all = await serve({ triggers: [{ event }] })
    const large = await serve({ triggers: [{ event, if: 'event.data.total > 10' }] })
    const vip = await serve({ triggers: [{ event, if: 'event.data.vip' }] })
    const { eventId, runId } = await api.send({ name: event, data: { total: 9 } })
    const explained = await why(eventId)
    expect(explained).toMatchObject({ eventId, name: event, now: false, woke: 0, sentence: 'The event started 1 run.' })
    const of = (name: string) => explained.workflows.find(({ workflow }) => workflow === name)
    expect(explained.workflows).toHaveLength(3)
    expect(of(all.name)).toEqual({ ...named(all), outcome: 'run', runId, sentence: `It started run ${runId}.` })
    expect(of(large.name)).toEqual({
      ...named(large),
      outcome: 'filter',
      sentence: 'Its filter was false.',
      trigger: { event, if: 'event.data.total > 10' },
    })
    expect(of(vip.name)).toMatchObject({ outcome: 'filter', error: expect.stringContaining('vip') })
    // The record itself does not change.
    expect(await api.event(eventId as string)).toMatchObject({ triggered: [{ ...named(all), runId }] })
    expect(await api.event(eventId as string)).not.toHaveProperty('decided')
  })

  test('it stays when the definition changes, and a workflow that came later is said to have had no trigger', async () => {
    const event = unique('order')
    const { name, app } = await serve({ triggers: [{ event, if: 'false' }] })
    const { eventId } = await api.send({ name: event })
    await workflow(flow([run('work')]), { name, app, registration: { triggers: [{ event }] } })
    const late = await serve({ triggers: [{ event }] })
    const explained = await why(eventId)
    expect(explained.workflows.find(one => one.workflow === name)).toMatchObject({
      outcome: 'filter',
      trigger: { if: 'false' },
    })
    expect(explained.workflows.find(one => one.workflow === late.name)).toMatchObject({ outcome: 'no-trigger' })
    const again = await why(eventId, '?now=1')
    expect(again).toMatchObject({ now: true })
    expect(again.workflows.find(one => one.workflow === late.name)).toMatchObject({
      outcome: 'run',
      sentence: 'It would start a run.',
    })
  })

  test('no trigger of that name: names that are near', async () => {
    const event = unique('order.placed')
    await serve({ triggers: [{ event }] })
    const { eventId } = await api.send({ name: event.replace('placed', 'place') })
    const explained = await why(eventId)
    expect(explained).toMatchObject({ workflows: [], nearest: expect.arrayContaining([event]) })
    expect(explained.sentence).toContain('no workflow has a trigger for')
    expect(explained.sentence).toContain('did you mean')
    const strange = await api.send({ name: 'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz' })
    expect(await why(strange.eventId)).not.toHaveProperty('nearest')
  })

  test('limited to another app, by `app` and by `targetApp`', async () => {
    const event = unique('order')
    const { app } = await serve({ triggers: [{ event }] })
    for (const limit of [{ app: 'elsewhere' }, { app, targetApp: 'elsewhere' }]) {
      const { eventId } = await api.send({ name: event, ...limit })
      for (const query of ['', '?now=1'])
        expect(await onlyVerdict(eventId, query)).toMatchObject({
          outcome: 'other-app',
          sentence: 'The event was limited to app "elsewhere".',
        })
    }
  })

  test('each policy that keeps an event from starting a run, with the run or event it was for', async () => {
    const hold = flow([wait('hold', unique('never'))])
    const once = await serve({ idempotency: { key: 'event.data.id' } })
    const first = await api.send({ name: once.name, data: { id: 1 } })
    const repeat = await api.send({ name: once.name, data: { id: 1 } })
    expect(await onlyVerdict(repeat.eventId)).toMatchObject({ outcome: 'deduped', repeatOf: first.eventId })

    const single = await serve({ singleton: { mode: 'skip' } }, hold)
    const alive = await api.send({ name: single.name })
    const skipped = await api.send({ name: single.name })
    expect(await onlyVerdict(skipped.eventId)).toMatchObject({ outcome: 'skipped', liveRunId: alive.runId })

    const limited = await serve({ rateLimit: { limit: 1, period: '1h' } })
    await api.send({ name: limited.name })
    const dropped = await api.send({ name: limited.name })
    expect(await onlyVerdict(dropped.eventId)).toMatchObject({ outcome: 'dropped' })

    const burst = await serve({ debounce: { period: '10s' } })
    const joined = await api.send({ name: burst.name })
    expect(await onlyVerdict(joined.eventId)).toMatchObject({
      outcome: 'debounced',
      sentence: 'It joined a burst that has not become a run.',
    })
    clock.jump(11_000)
    const became = await until(async () => (await onlyVerdict(joined.eventId)).runId)
    expect(await onlyVerdict(joined.eventId)).toMatchObject({
      outcome: 'debounced',
      sentence: `It joined the burst that became run ${became}.`,
    })

    const batch = await serve({ batch: { maxSize: 2, timeout: '1h' } })
    const part = await api.send({ name: batch.name })
    expect(await onlyVerdict(part.eventId)).toMatchObject({ outcome: 'batched' })
  })

  test('a policy that did not apply because of its key is a warning', async () => {
    const { name } = await serve({ idempotency: { key: 'event.data.id' } })
    const { eventId } = await api.send({ name, data: {} })
    expect(await why(eventId)).toMatchObject({ warnings: [expect.stringContaining('idempotency does not apply')] })
  })

  test('a paused workflow', async () => {
    const { name, app } = await serve()
    await api.post(`/workflows/${app}/${name}/pause`)
    const { eventId, runId } = await api.send({ name })
    expect(await onlyVerdict(eventId)).toMatchObject({ outcome: 'run', runId, paused: true })
    await api.post(`/workflows/${app}/${name}/resume`)
    await api.succeeded(runId)
    expect(await onlyVerdict(eventId)).toMatchObject({ paused: true })
  })

  test('waits that it woke, and how many others waited', async () => {
    const event = unique('paid')
    const filtered = step('WaitForEvent', 'mine', {
      eventName: event,
      timeoutMs: 60_000,
      if: 'async.data.id == event.data.id',
    })
    const { name } = await serve({}, flow([filtered]))
    const runs = [await api.send({ name, data: { id: 1 } }), await api.send({ name, data: { id: 2 } })]
    for (const { runId } of runs) await api.reaches(runId, 'waiting')
    const { eventId } = await api.send({ name: event, data: { id: 2 } })
    expect(await why(eventId)).toMatchObject({
      sentence: 'The event woke 1 of the 2 runs that waited for its name.',
      woke: 1,
      waited: 2,
      woken: [{ runId: runs[1]?.runId, stepName: 'mine' }],
      workflows: [],
    })
    const unmet = await api.send({ name: event, data: { id: 3 } })
    expect((await why(unmet.eventId)).sentence).toBe(
      `The event started nothing: 1 run waited for "${event}" with a condition that it did not meet.`,
    )
    expect(await why(unmet.eventId, '?now=1')).toMatchObject({
      sentence: `The event would start nothing: 1 run waits for "${event}" with a condition that it does not meet.`,
      waited: 1,
    })
  })

  test('an emitted event is explained too', async () => {
    const inner = unique('inner')
    const { name } = await serve({}, flow([step('Emit', 'say', { eventName: inner })]))
    const listener = await serve({ triggers: [{ event: inner, if: 'false' }] })
    const { runId } = await api.send({ name })
    await api.succeeded(runId)
    const [record] = (await api.get(`/events?name=${inner}`)).json as { id: string }[]
    expect(verdicts(await why(record?.id))).toEqual([[listener.name, 'filter']])
    expect(verdicts(await why(record?.id, '?now=1'))).toEqual([[listener.name, 'filter']])
  })
})

test('an unknown event is 404; an erased one cannot be decided again', async () => {
  expect(await api.get('/events/evt_none/why')).toMatchObject({ status: 404, code: 'not_found' })
  const { name } = await serve()
  const { eventId, runId } = await api.send({ name, data: { secret: 1 } })
  await api.succeeded(runId)
  expect((await api.request('DELETE', `/runs/${runId}`)).status).toBeLessThan(300)
  expect(await onlyVerdict(eventId)).toMatchObject({ outcome: 'run', runId })
  expect(await api.get(`/events/${eventId}/why?now=1`)).toMatchObject({ status: 409, code: 'conflict' })
})

const named = ({ name, app }: { name: string; app: string }) => ({ workflow: name, app })
