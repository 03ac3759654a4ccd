// The events of ended runs, on both databases and with two engines on one (docs/events.md#events-of-the-engine).

import type { EventExplanation, EventRecord, RunExplanation, RunSummary } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  type Api,
  flow,
  type Handler,
  openEngine,
  openEngines,
  openRunner,
  PLACES,
  returned,
  STORES,
  sleep,
  step,
  unique,
  until,
} from '../../kit/index.ts'

const FAILED = 'perdure/run.failed'
const HOUR = 3_600_000
const failing: Handler = flow([step('StepRun', 'print', { error: { message: 'no paper' }, retriable: false })])
const echo: Handler = ({ event: { data } }) => returned(data)

const of = (...names: string[]) => `event.data.workflow in ${JSON.stringify(names)}`
const listens = (event: string, condition: string, more: object = {}, handler = echo) => ({
  handler,
  registration: { triggers: [{ event, if: condition }], ...more },
})

/** Resolves with the runs of a workflow, oldest first, once this many have ended. */
const ended = (api: Api, workflow: string, count: number): Promise<RunSummary[]> =>
  until(
    async () => {
      const runs = await api.runs(`?workflow=${workflow}&limit=200`)
      return runs.length >= count && runs.every(({ finishedAt }) => finishedAt) ? runs.reverse() : undefined
    },
    { what: `${count} runs of ${workflow}` },
  )
const inputs = (api: Api, runs: RunSummary[]) => Promise.all(runs.map(async ({ id }) => (await api.run(id)).input))
const sent = async (api: Api) => (await api.get('/events?source=engine&limit=200')).json as EventRecord[]
const sentOf = async (api: Api, runId: string) =>
  (await sent(api)).filter(({ data }) => (data as { runId: string }).runId === runId)
const why = async (api: Api, id: string, query = '') =>
  (await api.get(`/events/${id}/why${query}`)).json as EventExplanation

describe.each(PLACES)('on %s', async (_, freshStore, count) => {
  const { api, other } = await openEngines(freshStore, count, { env: { ENGINE_QUEUE: 'memory' } })
  const open = async (workflows: Parameters<typeof openRunner>[0]['workflows']) => {
    const runner = await openRunner({ workflows })
    await runner.register(api, { features: ['cleanup', 'continue-as'] })
    // Both engines now know the workflows.
    if (other !== api) await runner.register(other, { features: ['cleanup', 'continue-as'] })
    return runner
  }

  test('an end that nobody listens to leaves nothing', async () => {
    const [fails, star] = [unique('fails'), unique('star')]
    await open({ [fails]: failing, [star]: { handler: echo, registration: { triggers: [{ event: '*' }] } } })
    const { runId } = await api.send({ name: fails })
    await api.failed(runId)
    expect(await ended(api, star, 1)).toHaveLength(1)
    expect(await sent(api)).toEqual([])
  })

  test('every kind of end starts what listens to it, with its data', async () => {
    const [fails, done, naps, all, failed] = ['fails', 'done', 'naps', 'all', 'failed'].map(unique) as string[] as [
      string,
      string,
      string,
      string,
      string,
    ]
    const { app } = await open({
      [fails]: failing,
      [done]: echo,
      [naps]: flow([sleep('nap', HOUR)]),
      [all]: listens('perdure/run.*', of(fails, done, naps)),
      [failed]: listens(FAILED, of(fails)),
    })
    const attributes = { plan: 'pro' }
    const { runId } = await other.send({ name: fails, attributes })
    await api.failed(runId)
    const { runId: good } = await api.send({ name: done, data: { n: 1 } })
    const { runId: nap } = await other.send({ name: naps })
    await api.reaches(nap, 'waiting')
    await api.post(`/runs/${nap}/cancel`, {})

    const error = expect.objectContaining({ message: 'no paper', stepName: 'print' })
    const about = { runId, workflow: fails, app, status: 'failed', error, attributes }
    const [alert] = (await ended(api, failed, 1)) as [RunSummary]
    expect(alert).toMatchObject({ eventName: FAILED, triggerKind: 'event' })
    expect((await api.run(alert.id)).input).toEqual(about)
    expect(await api.event(alert.eventId as string)).toMatchObject({ name: FAILED, source: 'engine', app, data: about })
    const told = await inputs(api, await ended(api, all, 3))
    expect(told).toContainEqual(about)
    expect(told).toContainEqual({ runId: good, workflow: done, app, status: 'succeeded', result: { n: 1 } })
    expect(told).toContainEqual({ runId: nap, workflow: naps, app, status: 'cancelled' })
  })

  test('every end starts one run, whichever engine ends the run', async () => {
    const [fails, alert] = [unique('fails'), unique('alert')]
    await open({ [fails]: failing, [alert]: listens(FAILED, of(fails)) })
    const sends = Array.from({ length: 30 }, (_, i) => (i % 2 ? api : other).send({ name: fails }))
    const ids = (await Promise.all(sends)).map(({ runId }) => runId)
    const told = (await inputs(api, await ended(api, alert, ids.length))) as { runId: string }[]
    expect(told.map(({ runId }) => runId).sort()).toEqual(ids.sort())
  })

  test('of a chain the last run is told, and runs that follow another say so', async () => {
    const [loop, alert] = [unique('loop'), unique('alert')]
    await open({
      [loop]: {
        handler: (invoke, record) =>
          invoke.event.data === 'last'
            ? failing(invoke, record)
            : { status: 200, body: { continueAs: { data: 'last' }, logs: [] } },
        registration: { onFailure: true },
      },
      [alert]: listens('perdure/run.*', of(loop)),
    })
    const { runId } = await api.send({ name: loop })
    const { continuedAs } = await api.succeeded(runId)
    const told = await inputs(api, await ended(api, alert, 2))
    expect(told).toContainEqual(expect.objectContaining({ runId: continuedAs, status: 'failed' }))
    expect(told).toContainEqual(expect.objectContaining({ kind: 'onFailure', parentRunId: continuedAs }))
    expect(await sentOf(api, runId)).toEqual([])
  })

  test('a workflow is not started by the end of a run that such an event started, others are', async () => {
    const [fails, own, alert] = [unique('fails'), unique('own'), unique('alert')]
    const { app } = await open({
      [fails]: failing,
      [own]: listens(FAILED, of(fails, own), {}, failing),
      [alert]: listens(FAILED, of(own)),
    })
    await api.send({ name: fails })
    const [run] = (await ended(api, own, 1)) as [RunSummary]
    const [alerted] = (await ended(api, alert, 1)) as [RunSummary]
    expect((await api.run(alerted.id)).input).toMatchObject({ runId: run.id })
    const eventId = alerted.eventId as string
    for (const query of ['', '?now=1'])
      expect((await why(api, eventId, query)).workflows).toContainEqual(
        expect.objectContaining({ workflow: own, app, outcome: 'own-end' }),
      )
    expect(await api.runs(`?workflow=${own}`)).toHaveLength(1)
  })

  test('workflows that start each other end with the eighth event in a row', async () => {
    const [ping, pong] = [unique('ping'), unique('pong')]
    await open({
      [ping]: listens(FAILED, of(pong), {}, failing),
      [pong]: listens(FAILED, of(ping), {}, failing),
    })
    const first = (await start(api, ping)).id
    await api.failed(first)
    const [pings, pongs] = [await ended(api, ping, 4), await ended(api, pong, 4)]
    expect([pings.length, pongs.length]).toEqual([4, 4])
    const last = pongs.at(-1) as RunSummary
    const [line] = await api.logs(last.id)
    expect(line).toMatchObject({ level: 'warn', message: expect.stringContaining('8th in a row') })
    const explained = (await api.get(`/runs/${last.id}/why`)).json as RunExplanation
    expect(explained.warnings).toEqual([expect.stringContaining('7 events of the engine in a row')])
    expect(await api.logs(pings.at(-1)?.id as string)).toEqual([])
  })

  test('ends are collected, redriven, replayed and erased as other events are', async () => {
    const [fails, both] = [unique('fails'), unique('both')]
    await open({ [fails]: failing, [both]: listens(FAILED, of(fails), { batch: { maxSize: 2, timeout: '1h' } }) })
    const ids = [(await api.send({ name: fails })).runId, (await api.send({ name: fails })).runId]
    const [batch] = (await ended(api, both, 1)) as [RunSummary]
    const list = (await api.run(batch.id)).input as { runId: string }[]
    expect(list.map(({ runId }) => runId).sort()).toEqual([...ids].sort())
    const replayed = await api.post(`/runs/${batch.id}/replay`, {})
    expect((await api.succeeded((replayed.json as RunSummary).id)).result).toEqual(list)
    const [event] = (await sentOf(api, ids[0] as string)) as [EventRecord]
    const redriven = await api.post(`/events/${event.id}/redrive`, { workflow: both })
    expect((await api.succeeded((redriven.json as RunSummary).id)).result).toMatchObject([{ runId: ids[0] }])
    const bulk = await api.post('/events/redrive', {
      name: FAILED,
      since: '1970-01-01T00:00:00Z',
      workflow: both,
      dryRun: true,
    })
    expect(bulk.status, bulk.text).toBe(200)

    for (const { id } of await api.runs(`?workflow=${both}&limit=50`)) await api.request('DELETE', `/runs/${id}`)
    await api.request('DELETE', `/runs/${ids[0]}`)
    expect(await api.event(event.id)).toMatchObject({ erased: true })
  })
})

async function start(api: Api, workflow: string): Promise<RunSummary> {
  const { app } =
    ((await api.get('/workflows')).json as { name: string; app: string }[]).find(({ name }) => name === workflow) ?? {}
  const answer = await api.post(`/workflows/${app}/${workflow}/runs`, {})
  expect(answer.status, answer.text).toBe(201)
  return answer.json as RunSummary
}

test.each(STORES)('an engine that dies between the end and the event loses none, on %s', async (_, freshStore) => {
  const storeFile = await freshStore()
  const [fails, alert] = [unique('fails'), unique('alert')]
  const runner = await openRunner({ workflows: { [fails]: failing, [alert]: listens(FAILED, of(fails)) } })
  // The timers of this engine do nothing, as if it died before sending any event.
  const first = await openEngine({ storeFile, bounds: { timersMax: 0 } })
  await runner.register(first.api)
  const ids = await Promise.all(Array.from({ length: 9 }, async () => (await first.api.send({ name: fails })).runId))
  for (const id of ids) await first.api.failed(id)
  expect(await sent(first.api)).toEqual([])
  expect((await first.api.get('/scheduled-events')).json).toEqual([])
  await first.stop()
  const { api } = await openEngine({ storeFile })
  await runner.register(api)
  const told = (await inputs(api, await ended(api, alert, ids.length))) as { runId: string }[]
  expect(told.map(({ runId }) => runId).sort()).toEqual(ids.sort())
  expect(await sent(api)).toHaveLength(ids.length)
})
