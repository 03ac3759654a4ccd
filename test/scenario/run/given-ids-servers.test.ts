// Runs with ids of callers: everything names them only by these ids, and namespaces that use the same id see nothing of each
// other, on both databases and at two engines of one (docs/concepts.md#start-a-workflow-directly).

import type { BulkDetail, RunSummary, Tree, WebhookDelivery } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { violationsIn } from '../../kit/engine/violations.ts'
import {
  type Api,
  child,
  emit,
  flow,
  gate,
  openDestination,
  openEngines,
  openRunner,
  PLACES,
  returned,
  run,
  StepFailure,
  unique,
  until,
  wait,
} from '../../kit/index.ts'

const SPACES = ['north', 'south']
const keyOf = (namespace: string) => `the-secret-key-of-${namespace}`
const KEYS = SPACES.map(namespace => ({ label: 'ops', namespace, kind: 'secret', key: keyOf(namespace) }))
const env = { ENGINE_API_KEYS: JSON.stringify(KEYS), ENGINE_WEBHOOK_ALLOW_PRIVATE: '1' }
const STORED_FORM = /run_[0-9A-Z]{26}\./

/** Engines on one store, and a runner in the first namespace. */
async function open(freshStore: () => Promise<string>, count: number) {
  const { storeFile, engines } = await openEngines(freshStore, count, { env })
  const at = (engine: (typeof engines)[number] | undefined, namespace: string) =>
    (engine as { api: Api }).api.as(keyOf(namespace))
  return {
    storeFile,
    north: at(engines[0], 'north'),
    northElsewhere: at(engines.at(-1), 'north'),
    south: at(engines.at(-1), 'south'),
    engines,
  }
}

const given = (what: string) => `run_${what}-${unique('id')}`

describe.each(PLACES)('on %s', async (_, fresh, count) => {
  const { storeFile, north, northElsewhere, south } = await open(fresh, count)

  test('every reply, frame and delivery names a run by the id it was given', async () => {
    const [api, other] = [north, northElsewhere]
    const names = ['all', 'kid', 'failing', 'slotted'].map(part => unique(part))
    const [all, kid, failing, slotted] = names as [string, string, string, string]
    const released = gate()
    const destination = await openDestination()
    const runner = await openRunner({
      workflows: {
        [all]: flow([run('one'), child('kid', kid), emit('say', unique('said'))]),
        [kid]: flow([]),
        [failing]: flow([run('no', () => Promise.reject(new StepFailure('no', { retriable: false })))]),
        [slotted]: {
          handler: async () => {
            await released.opened
            return returned()
          },
          registration: { concurrency: { limit: 1 } },
        },
      },
    })
    await runner.register(api)
    const seen: string[] = []
    const ask = async (method: 'GET' | 'POST', path: string, body?: unknown, at = api) => {
      const answer = await (method === 'GET' ? at.get(path) : at.post(path, body))
      expect(answer.status, `${path}: ${answer.text}`).toBeLessThan(300)
      seen.push(answer.text)
      return answer.json
    }
    const get = (path: string, at = api) => ask('GET', path, undefined, at)
    await ask('POST', '/webhook-endpoints', { url: destination.url, eventKinds: ['run.failed', 'step.failed'] })
    const start = (name: string, runId: string) => ask('POST', `/workflows/${runner.app}/${name}/runs`, { runId })
    const [done, more, lost, held, waiting] = ['done', 'more', 'lost', 'held', 'waiting'].map(given) as [
      string,
      string,
      string,
      string,
      string,
    ]

    // Streams, at the other engine if there are two.
    const fed = new Set<string>()
    const follow = (path: string) =>
      other.follow(path, {
        stopWhen: messages => {
          if (messages.length > 0) fed.add(path)
          return messages.some(({ raw }) => [done, more].some(id => raw.includes(id)) && raw.includes('"succeeded"'))
        },
      })
    const streams = await Promise.all(['/runs/stream', '/stream?topics=runs,deliveries'].map(follow))
    await start(failing, lost)
    await api.failed(lost)
    // The other engines know about a stream a moment after it opens.
    for (let i = 0; fed.size < streams.length; i++) {
      await start(failing, `${lost}-${i}`)
      await api.failed(`${lost}-${i}`)
    }
    await start(all, done)
    await api.succeeded(done)
    // A frame of another engine may be lost on the way. A later run then ends the stream.
    let over = 0
    for (const stream of streams) void stream.over.then(() => over++)
    for (let i = 0; over < streams.length; i++) {
      await start(all, `${more}-${i}`)
      await api.succeeded(`${more}-${i}`)
    }
    const own = await Promise.all([follow(`/runs/${done}/stream`), follow(`/stream?topics=run:${done}`)])
    for (const stream of [...streams, ...own]) {
      const { messages } = await stream.over
      seen.push(...messages.map(({ raw }) => raw))
    }
    expect(seen.some(raw => raw.includes('event: step_status') && raw.includes(`"runId":"${done}"`))).toBe(true)

    const kidId = (await api.runs(`?parentRunId=${done}`))[0]?.id as string
    const fork = (await ask('POST', `/runs/${done}/replay`)) as RunSummary
    expect(fork.replayOf).toBe(done)
    expect((await api.runs(`?replayOf=${done}`)).map(({ id }) => id)).toEqual([fork.id])
    const { nodes } = (await get(`/runs/${done}/tree`)) as Tree
    expect(nodes[0]).toMatchObject({ id: done })
    expect(nodes.find(({ id }) => id === kidId)).toMatchObject({ parentId: done })
    await start(slotted, held)
    await api.reaches(held, 'running')
    await start(slotted, waiting)
    await until(async () => (await api.run(waiting)).waitingFor?.kind === 'concurrency')
    expect(await get(`/runs/${waiting}/why`)).toMatchObject({ runId: waiting, blockedBy: [{ runId: held }] })
    expect(await get('/limits')).toMatchObject([{ holders: [{ runId: held }] }])
    for (const id of [done, lost, held]) {
      expect((await api.run(id)).id).toBe(id)
      for (const part of ['', '/steps', '/logs', '/passes', '/tree', '/why']) await get(`/runs/${id}${part}`, other)
    }
    for (const path of ['/runs', '/runs?sort=duration', '/events', '/control-actions']) await get(path, other)
    expect(await get('/errors')).toMatchObject([{ lastRunId: expect.stringMatching(`^${lost}`) }])
    expect(JSON.stringify(await get('/workflows/stats'))).toContain(`"runId":"${lost}`)
    for (const q of [done, done.slice(4), done.slice(0, -2).toUpperCase()]) {
      expect((await api.runs(`?q=${q}`)).map(({ id }) => id)).toEqual([done])
    }
    expect(await get(`/control-actions?runId=${done}`)).toMatchObject([
      { action: 'replay', runId: done, newRunId: fork.id },
    ])

    const sent = (await get(`/webhook-deliveries?sourceRunId=${lost}`)) as WebhookDelivery[]
    expect(sent.map(({ sourceRunId }) => sourceRunId)).toEqual([lost, lost])
    expect(JSON.stringify(sent)).toContain(`"id":"${lost}"`)
    await until(() => destination.requests.length >= 2)
    seen.push(...destination.requests.map(({ body }) => String(body)))

    const bulk = async (body: unknown) => {
      const { bulkId } = (await ask('POST', '/bulk', body)) as { bulkId: string }
      return (await until(async () => {
        const job = (await get(`/bulk/${bulkId}`)) as BulkDetail
        return job.status === 'done' && job
      })) as BulkDetail
    }
    expect((await bulk({ action: 'replay', ids: [done] })).results).toMatchObject([{ runId: done, outcome: 'done' }])
    expect(await bulk({ action: 'replay', filter: { parentRunId: done } })).toMatchObject({
      filter: { parentRunId: done },
      results: [{ runId: kidId, outcome: 'done' }],
    })

    for (const verb of ['pause', 'resume', 'cancel']) await ask('POST', `/runs/${held}/${verb}`)
    released.open()
    const late = await api.post(`/runs/${held}/cancel`)
    expect(late).toMatchObject({ status: 409, code: 'run_terminal' })
    expect(late.text).toContain(`Run ${held} was`)
    expect((await api.post(`/runs/${lost}/retry-from-step`, { step: 'none' })).text).toContain(`Run ${lost} has no`)
    seen.push(...runner.record.invokes.map(({ ctx }) => JSON.stringify(ctx)))
    expect(seen.filter(text => STORED_FORM.test(text))).toEqual([])
    // The stored form is not an id of the API.
    expect((await api.get(`/runs/run_01J00000000000000000000000.${done.slice(4)}`)).status).toBe(404)
    expect(await violationsIn(storeFile)).toEqual([])
  })

  test('two namespaces with one id see nothing of one another', async () => {
    const name = unique('shared')
    const go = unique('go')
    const runners = await Promise.all(
      [north, south].map(async api => {
        const runner = await openRunner({ workflows: { [name]: flow([wait('w', go)]) } })
        await runner.register(api)
        return runner
      }),
    )
    const runId = given('shared')
    const startIn = (api: Api, i: number) =>
      api.post(`/workflows/${runners[i]?.app}/${name}/runs`, { runId, input: SPACES[i] })
    expect((await startIn(north, 0)).status).toBe(201)
    await north.reaches(runId, 'waiting')
    // Before `south` has a run with that id, it sees nothing of the run of `north`.
    for (const part of ['', '/steps', '/logs', '/passes', '/tree', '/why', '/stream', '/result']) {
      expect((await south.get(`/runs/${runId}${part}`)).status, part).toBe(404)
    }
    expect((await south.get(`/stream?topics=run:${runId}`)).status).toBe(404)
    for (const verb of ['cancel', 'pause', 'resume', 'replay']) {
      expect((await south.post(`/runs/${runId}/${verb}`)).status, verb).toBe(404)
    }
    expect((await startIn(south, 1)).status).toBe(201)
    await south.reaches(runId, 'waiting')
    const apis = [north, south] as const
    for (const [i, api] of apis.entries()) expect((await api.run(runId)).input).toBe(SPACES[i])

    const follow = (api: Api) => api.follow(`/runs/${runId}/stream`)
    const [first, second] = await Promise.all([follow(north), follow(south)])
    expect((await south.post(`/runs/${runId}/cancel`)).status).toBe(200)
    expect((await second.over).messages.at(-1)?.data.status).toBe('cancelled')
    expect((await north.run(runId)).status).toBe('waiting')
    await north.send({ name: go })
    await north.succeeded(runId)
    const frames = (await first.over).messages
    expect(frames.at(-1)?.data.status).toBe('succeeded')
    expect(JSON.stringify(frames)).not.toContain('cancelled')
    expect(await south.runs()).toHaveLength(1)
    expect((await south.request('DELETE', `/runs/${runId}`)).status).toBe(204)
    expect(await startIn(south, 1)).toMatchObject({ status: 409 })
    expect(await startIn(north, 0)).toMatchObject({ status: 200, json: { id: runId, status: 'succeeded' } })
  })

  test('a list finds runs by their ids, given ones too', async () => {
    const name = unique('named')
    const runner = await openRunner({ workflows: { [name]: flow([]) } })
    const [ours, theirs] = [given('ours'), given('theirs')]
    const start = async (api: Api, runId?: string) => {
      await runner.register(api)
      const answer = await api.post(`/workflows/${runner.app}/${name}/runs`, runId === undefined ? {} : { runId })
      return (answer.json as RunSummary).id
    }
    await start(north, ours)
    const own = await start(north)
    await start(south, theirs)
    const found = async (...ids: string[]) => {
      const listed = (await northElsewhere.get(`/runs?ids=${ids.join()}`)).json as RunSummary[]
      return listed.map(({ id }) => id).sort()
    }
    expect(await found(ours)).toEqual([ours])
    expect(await found(ours, own, ours, theirs, 'run_nobody_has_it')).toEqual([ours, own].sort())
    expect(await found(theirs)).toEqual([])
    expect((await northElsewhere.get(`/runs?ids=${ours}&limit=1`)).headers.get('x-next-cursor')).toBeNull()
  })
})
