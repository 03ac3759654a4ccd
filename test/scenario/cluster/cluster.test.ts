// Several engines on one PostgreSQL database, in this process: the other engines know what one engine registers and commits,
// and reach the runners on its sockets; over Redis, and over the database.

import { describe, expect, test } from 'vitest'
import { WIRES } from '../../kit/engine/cluster.ts'
import {
  type Api,
  flow,
  freshSchema,
  gate,
  type Handler,
  onCleanup,
  opcode,
  openEngine,
  PlainRunner,
  RunnerRecord,
  returned,
  run,
  type SseMessage,
  sleep,
  step,
  stepId,
  unique,
  until,
  wait,
  within,
} from '../../kit/index.ts'
import { type ConnectClient, dial } from '../../kit/runner/connect-client.ts'
import { API_KEYS, SECRET_KEY } from '../../kit/webhook/webhooks.ts'

for (const [wire, env] of Object.entries(WIRES)) {
  describe(`two engines that hear each other through ${wire}`, async () => {
    const storeFile = await freshSchema()
    const open = async () => {
      const { api, url } = await openEngine({ storeFile, env: { ...env, ENGINE_API_KEYS: API_KEYS } })
      return { api: api.as(SECRET_KEY), url }
    }
    const [one, two] = [await open(), await open()]

    /** A workflow behind an address, registered with the first engine. */
    async function workflow(handler: Handler, registration = {}): Promise<{ name: string; record: RunnerRecord }> {
      const name = unique('shared')
      const runner = await new PlainRunner({
        app: name,
        workflows: { [name]: { handler, registration } },
      }).listen()
      await runner.register(one.api)
      await knows(two.api, name)
      return { name, record: runner.record }
    }

    /** A workflow behind a socket on the first engine. */
    async function connected(
      handler: Handler,
      registration = {},
    ): Promise<{ name: string; record: RunnerRecord; client: ConnectClient }> {
      const name = unique('connected')
      const record = new RunnerRecord()
      const client = await dial(one.url, { key: SECRET_KEY })
      client.serve({ [name]: handler }, record)
      await client.register({ app: name, runner: 'r1', workflows: [name], ...registration })
      await knows(two.api, name)
      return { name, record, client }
    }

    async function knows(api: Api, app: string): Promise<void> {
      const known = async () => ((await api.get(`/runners?app=${app}`)).json as { live: boolean }[])[0]?.live
      await until(known, { what: `${app} on the other engine` })
    }

    test('a registration with one is known to the other, and so is its end', async () => {
      const name = unique('shared')
      const runner = await new PlainRunner({ app: name, workflows: { [name]: () => returned() } }).listen()
      await runner.register(one.api)
      await knows(two.api, name)
      const made = await one.api.post('/webhook-endpoints', {
        url: 'https://hook.example/',
        eventKinds: ['run.failed'],
      })
      const { id } = made.json as { id: string }
      const isListed = async () =>
        ((await two.api.get('/webhook-endpoints')).json as { id: string }[]).some(listed => listed.id === id)
      await until(isListed, { what: 'the endpoint' })
      await one.api.request('DELETE', `/webhook-endpoints/${id}`)
      await until(async () => !(await isListed()), { what: 'the end of the endpoint' })
    })

    test('heartbeats make no engine read the catalog again', async () => {
      const name = unique('shared')
      const runner = await new PlainRunner({ app: name, workflows: { [name]: () => returned() } }).listen()
      await runner.register(one.api)
      const before = await revision(storeFile)
      await runner.register(one.api)
      await runner.register(two.api)
      expect(await revision(storeFile)).toBe(before)
      await runner.register(two.api, { region: 'eu' })
      expect(await revision(storeFile)).toBe(before + 1)
    })

    test('runs of either go on at once whichever engine wakes them, each step once', async () => {
      const signal = unique('signal')
      const { name, record } = await workflow(flow([run('a'), wait('w', signal), sleep('nap', 20), run('b')]))
      const runs = await Promise.all([one, two, one, two].map(({ api }) => api.send({ name })))
      for (const { runId } of runs) await one.api.reaches(runId, 'waiting')
      await two.api.send({ name: signal })
      for (const { runId } of runs) {
        await two.api.succeeded(runId)
        expect(record.names(runId)).toEqual(['a', 'w', 'nap', 'b'])
      }
    })

    test('an invoke reaches a socket on the other engine, its texts unchanged', async () => {
      const big = 'ä€𝄞\u0000'.repeat(60_000)
      const { name, record } = await connected(flow([run('one'), run('two', () => big)], ({ two }) => two))
      const { runId } = await two.api.send({ name, data: { big } })
      expect((await one.api.succeeded(runId)).result).toBe(big)
      expect(record.names(runId)).toEqual(['one', 'two'])
      expect(record.of(runId)[0]?.event.data).toEqual({ big })
    })

    test('steps reported over the other socket are durable while the pass goes on', async () => {
      const [asked, go] = [gate<string>(), gate()]
      const { name, client } = await connected(() => returned())
      client.onFrame = frame => {
        if (frame.type !== 'invoke') return
        client.send('invoke.checkpoint', { seq: 1, opcodes: [opcode('StepRun', 'early', { data: 7 })] }, frame.id)
        asked.open(frame.id)
      }
      const { runId } = await two.api.send({ name })
      const id = await asked.opened
      const ack = await client.next('checkpoint.ack')
      expect(ack).toMatchObject({ id, payload: { seq: 1, steps: [{ id: stepId('early') }] } })
      expect(await one.api.step(runId, 'early')).toMatchObject({ status: 'succeeded', data: 7 })
      expect((await one.api.run(runId)).status).toBe('running')
      go.open()
      client.result(id, 200, '{"data":"done","logs":[]}')
      await two.api.succeeded(runId)
    })

    test('progress of a pass at one is on the streams of the other while its step runs', async () => {
      const { name, client } = await connected(() => returned(), { features: ['attributes'] })
      client.onFrame = () => {}
      const stream = await two.api.follow('/stream?topics=runs', {
        stopWhen: messages => messages.some(({ data }) => data.kind === 'progress' && data.workflow === name),
      })
      const { runId } = await one.api.send({ name })
      const { id } = await client.next('invoke')
      const own = await two.api.follow(`/runs/${runId}/stream`, {
        stopWhen: messages => messages.some(({ data }) => data.kind === 'progress'),
      })
      let done = 0
      // A new stream is announced to the other engine after a moment.
      await until(async () => {
        client.send('invoke.checkpoint', { seq: ++done, opcodes: [], progress: { done } }, id)
        const over = Promise.all([stream.over, own.over]).then(() => true)
        return Promise.race([over, new Promise(later => setTimeout(later, 50, false))])
      })
      for (const { messages } of [await stream.over, await own.over])
        expect(messages.at(-1)?.data).toMatchObject({ kind: 'progress', runId, value: { done: expect.any(Number) } })
      expect((await two.api.run(runId)).status).toBe('running')
      client.result(id, 200, `{"data":1,"logs":[],"progress":{"done":"all"}}`)
      expect((await two.api.succeeded(runId)).progress?.value).toEqual({ done: 'all' })
    })

    test('a bulk job that one works off is followed at the other', async () => {
      const event = unique('never')
      const { name } = await workflow(flow([wait('w', event)]))
      const runIds = await Promise.all(Array.from({ length: 60 }, async () => (await one.api.send({ name })).runId))
      for (const runId of runIds) await one.api.reaches(runId, 'waiting')
      const { bulkId } = (await one.api.post('/bulk', { action: 'cancel', ids: runIds })).json as { bulkId: string }
      const stream = await two.api.follow(`/stream?topics=bulk:${bulkId}`, {
        stopWhen: messages => messages.some(({ data }) => data.status === 'done'),
      })
      expect((await stream.over).messages.at(-1)?.data).toMatchObject({ kind: 'bulk', id: bulkId, done: 60 })
    })

    test('a cancel at one stops the pass that the other has in flight', async () => {
      const { name, client } = await connected(() => new Promise(() => {}))
      const { runId } = await two.api.send({ name })
      await client.next('invoke')
      expect((await one.api.post(`/runs/${runId}/cancel`)).status).toBe(200)
      const cancelledAt = performance.now()
      await client.next('invoke.cancel')
      // The next extension of its lease would notify the other engine too, but later.
      expect(performance.now() - cancelledAt).toBeLessThan(3000)
      await two.api.reaches(runId, 'cancelled')
    })

    test('a stream of either engine sends what the other does; one of several topics sends a run once per interval', async () => {
      const { name } = await workflow(flow([run('a'), step('Webhook', 'hook', { webhookUrl: 'http://127.0.0.1:9/' })]))
      const isEnd = ({ data }: SseMessage) => data.workflow === name && data.status === 'succeeded'
      const has = (messages: readonly SseMessage[], kind: string) => messages.some(({ data }) => data.kind === kind)
      const follow = (path: string, stopWhen: (messages: readonly SseMessage[]) => boolean) =>
        one.api.follow(path, { stopWhen })
      const runs = await follow('/runs/stream', messages => messages.some(isEnd))
      const events = await follow('/events/stream', messages => messages.length > 0)
      const topics = await follow(
        '/stream?topics=runs,events,deliveries',
        messages => messages.some(isEnd) && has(messages, 'event') && has(messages, 'delivery'),
      )
      const over = Promise.all([runs.over, events.over, topics.over]).then(() => true)
      // A new stream is announced to the other engine after a moment.
      await until(async () => {
        await two.api.send({ name })
        return Promise.race([over, new Promise(done => setTimeout(done, 50, false))])
      })
      expect((await events.over).messages[0]?.data).toMatchObject({ kind: 'event', name })
      expect((await topics.over).messages.find(isEnd)?.data).toMatchObject({
        attempt: 1,
        startedAt: expect.any(String),
      })
      const { runId } = await two.api.send({ name })
      expect((await one.api.stream(runId)).messages.at(-1)?.data.status).toBe('succeeded')
    })

    test('the stream of a run at one sends each step while the other drives it', async () => {
      const going = gate()
      const { name, record } = await workflow(flow([run('a'), run('b', () => going.opened), run('c')]))
      const { runId } = await two.api.send({ name })
      await until(() => record.times(runId, 'b') === 1)
      const stepSeen = gate()
      const settled = (messages: readonly SseMessage[]) =>
        messages.filter(({ data }) => data.kind === 'step_status' && data.status === 'succeeded').length
      const stream = one.api.stream(runId, {
        stopWhen: messages => {
          if (settled(messages) === 1) stepSeen.open()
          return false
        },
      })
      await within(stepSeen.opened, 'the first step')
      going.open()
      const { messages, ended } = await stream
      expect(ended).toBe(true)
      expect(settled(messages)).toBe(3)
      expect(messages.at(-1)?.data).toMatchObject({ kind: 'run_status', status: 'succeeded' })
    })
  })
}

async function revision(url: string): Promise<number> {
  const { Client } = await import('pg')
  const client = new Client({ connectionString: url })
  await client.connect()
  onCleanup(() => client.end())
  const { rows } = await client.query<{ revision: string }>('SELECT revision FROM catalog_revision')
  return Number(rows[0]?.revision)
}
