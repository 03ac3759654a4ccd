// Runners whose sockets are at one engine, used by another engine: their room and their absence. Also streams that miss
// notifications between engines. Over Redis, and over the database.

import type { RunExplanation } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { WIRES } from '../../kit/engine/cluster.ts'
import {
  flow,
  freshSchema,
  gate,
  type Handler,
  openEngine,
  PlainRunner,
  REDIS_URL,
  RunnerRecord,
  returned,
  run,
  type SseMessage,
  unique,
  until,
  waitsFor,
} from '../../kit/index.ts'
import { type ConnectClient, dial } from '../../kit/runner/connect-client.ts'
import { TcpProxy } from '../../kit/servers/tcp-proxy.ts'
import { API_KEYS, SECRET_KEY } from '../../kit/webhook/webhooks.ts'

async function open(storeFile: string, env: Record<string, string>) {
  const { api, url, takeErrors } = await openEngine({ storeFile, env: { ...env, ENGINE_API_KEYS: API_KEYS } })
  return { api: api.as(SECRET_KEY), url, takeErrors }
}

for (const [wire, env] of Object.entries(WIRES)) {
  describe(`a runner behind a socket of another engine, through ${wire}`, async () => {
    const storeFile = await freshSchema()
    const [one, two] = [await open(storeFile, env), await open(storeFile, env)]

    /**
     * A runner of the app with a socket on the first engine. The second engine knows the runner when this resolves.
     */
    async function connected(
      app: string,
      runner: string,
      { handler, maxConcurrency }: { handler: Handler; maxConcurrency?: number },
    ): Promise<{ record: RunnerRecord; client: ConnectClient }> {
      const record = new RunnerRecord()
      const client = await dial(one.url, { key: SECRET_KEY })
      client.serve({ [app]: handler }, record, runner)
      await client.register({ app, runner, workflows: [app], maxConcurrency })
      await until(async () => (await idsOf(app)).includes(runner), { what: `${runner} on the other engine` })
      return { record, client }
    }

    async function idsOf(app: string): Promise<string[]> {
      const listed = (await two.api.get(`/runners?app=${app}`)).json as { runnerId: string }[]
      return listed.map(({ runnerId }) => runnerId)
    }

    const why = async (runId: string) => (await two.api.get(`/runs/${runId}/why`)).json as RunExplanation

    test('without room gets nothing while another has some', async () => {
      const app = unique('room')
      const open = gate()
      const hangs: Handler = async () => {
        await open.opened
        return returned('late')
      }
      const full = await connected(app, 'full', { handler: hangs, maxConcurrency: 1 })
      const free = await connected(app, 'free', { handler: () => returned('now') })
      const held = await two.api.send({ name: app, runner: 'full' })
      await until(() => full.record.of(held.runId).length > 0, { what: 'the invoke that fills it' })
      const runs = await Promise.all(Array.from({ length: 12 }, () => two.api.send({ name: app })))
      for (const { runId } of runs) {
        expect((await two.api.succeeded(runId)).result).toBe('now')
        expect(free.record.of(runId)).toHaveLength(1)
      }
      open.open()
      expect((await two.api.succeeded(held.runId)).result).toBe('late')
    })

    test('gets the runs that are pinned to it one after the other, each once', async () => {
      const app = unique('line')
      const under = { now: 0, most: 0 }
      const handler = flow([
        run('work', async () => {
          under.most = Math.max(under.most, ++under.now)
          await new Promise(resolve => setImmediate(resolve))
          under.now--
          return 'done'
        }),
      ])
      const { record } = await connected(app, 'r1', { handler, maxConcurrency: 1 })
      const runs = await Promise.all(
        Array.from({ length: 12 }, (_, i) => (i % 2 ? one : two).api.send({ name: app, runner: 'r1' })),
      )
      for (const { runId } of runs) {
        const { attempt } = await two.api.succeeded(runId)
        expect(attempt).toBe(1)
        expect(record.names(runId)).toEqual(['work'])
      }
      expect(under.most).toBe(1)
    })

    test('is not sent a run that is paused at one engine while it waits for room at the other', async () => {
      const app = unique('recall')
      const open = gate()
      const handler: Handler = async () => {
        await open.opened
        return returned('late')
      }
      const { record } = await connected(app, 'r1', { handler, maxConcurrency: 1 })
      const first = await one.api.send({ name: app })
      await until(() => record.of(first.runId).length > 0, { what: 'the invoke that fills it' })
      const waiting = await Promise.all([one, two, one, two].map(({ api }) => api.send({ name: app })))
      // Only the engine that drives a run knows that the run waits for room.
      const waitsForRoom = async (runId: string) => {
        const answers = await Promise.all([one, two].map(({ api }) => api.get(`/runs/${runId}/why`)))
        return answers.some(({ json }) => (json as RunExplanation).sentence.startsWith('It is queued for a runner'))
      }
      for (const { runId } of waiting) await until(() => waitsForRoom(runId as string), { what: 'the queue' })
      for (const [i, { runId }] of waiting.entries()) await (i < 2 ? two : one).api.post(`/runs/${runId}/pause`)
      open.open()
      await two.api.succeeded(first.runId)
      const last = await two.api.send({ name: app })
      await two.api.succeeded(last.runId)
      for (const { runId } of waiting) {
        expect((await two.api.get(`/runs/${runId}`)).json).toMatchObject({ status: 'paused' })
        expect(record.of(runId)).toEqual([])
        await one.api.post(`/runs/${runId}/resume`)
      }
      for (const { runId } of waiting) await two.api.succeeded(runId)
    })

    test('that comes back to another engine with a result is not invoked for it again', async () => {
      const app = unique('roams')
      const { client } = await connected(app, 'r1', { handler: () => returned('never') })
      client.onFrame = () => {}
      const { runId } = await two.api.send({ name: app })
      const { id } = await client.next('invoke')
      client.ws.terminate()
      const back = await dial(two.url, { key: SECRET_KEY })
      await back.register({ app, runner: 'r1', workflows: [app], underWay: [id] })
      back.result(id, 200, '{"data":"kept","logs":[]}')
      expect(await back.next('result.ack')).toMatchObject({ id })
      expect(await two.api.succeeded(runId)).toMatchObject({ result: 'kept', attempt: 1 })
      expect(back.count('invoke')).toBe(0)
    })

    test('that goes is reported as disconnected, and its run goes on when it is back', async () => {
      const app = unique('away')
      const handler: Handler = () => returned('back')
      const { client } = await connected(app, 'r1', { handler })
      client.ws.terminate()
      await until(async () => (await idsOf(app)).length === 0, { what: 'its absence' })
      const { runId } = await two.api.send({ name: app, runner: 'r1' })
      await waitsFor(two.api, runId, 'runner')
      expect(await why(runId)).toMatchObject({
        sentence: expect.stringContaining('has 0 live, 0 stale and 1 disconnected runners with workflow'),
        runners: { live: 0, stale: 0, disconnected: 1 },
      })
      await connected(app, 'r1', { handler })
      expect((await two.api.succeeded(runId)).result).toBe('back')
    })
  })
}

test('a stream loses no frame when no notification of the driving engine arrives', async () => {
  const storeFile = await freshSchema()
  const proxy = await TcpProxy.open(REDIS_URL, 6379)
  const one = await open(storeFile, { ENGINE_QUEUE: REDIS_URL })
  const two = await open(storeFile, { ENGINE_QUEUE: proxy.urlOf(REDIS_URL) })
  const name = unique('lost')
  const go = gate()
  const runner = await new PlainRunner({
    app: name,
    workflows: { [name]: flow([run('a'), run('b', () => go.opened), run('c')]) },
  }).listen()
  await runner.register(one.api)
  const { runId } = await one.api.send({ name })
  await one.api.reaches(runId, 'running')
  let seen = 0
  const stopWhen = (messages: readonly SseMessage[]) => {
    seen = messages.length
    return false
  }
  const stream = await two.api.follow(`/runs/${runId}/stream`, { stopWhen })
  await until(() => seen >= 3, { what: 'the first frames' })
  proxy.down()
  go.open()
  await one.api.succeeded(runId)
  const { messages } = await stream.over
  const answers = (await one.api.stream(runId)).messages
  expect(messages.map(({ id, data }) => [id, data])).toEqual(answers.map(({ id, data }) => [id, data]))
  expect(messages.at(-1)?.data).toMatchObject({ kind: 'run_status', status: 'succeeded' })
  proxy.up()
  two.takeErrors()
})
