// Two engines on one PostgreSQL database without messages between them: everything that one engine has acknowledged counts for
// the other's next decision.

import { openAdministration } from '@perdure/engine'
import type { DryRunReply, SendEventReply } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  child,
  emit,
  flow,
  freshSchema,
  type Handler,
  openEngine,
  PlainRunner,
  postWebhook,
  returned,
  run,
  unique,
  until,
} from '../../kit/index.ts'
import { ConnectClient } from '../../kit/runner/connect-client.ts'
import { type Created, INBOUND_KEY, INBOUND_KEYS } from '../../kit/webhook/inbound.ts'

describe('right after one engine acknowledged', async () => {
  const storeFile = await freshSchema()
  const env = { ENGINE_QUEUE: 'memory', ENGINE_API_KEYS: INBOUND_KEYS }
  const open = async () => (await openEngine({ storeFile, env })).api.as(INBOUND_KEY)
  const [one, two] = [await open(), await open()]

  /** A runner with one workflow that listens but is not registered yet. */
  async function listening(handler: Handler = () => returned(), registration = {}): Promise<PlainRunner> {
    const name = unique('news')
    const workflows = { [name]: { handler, registration } }
    return new PlainRunner({ app: name, workflows }).listen()
  }
  const post = async (event: Record<string, unknown>) => (await two.post('/events', event)).json

  test('a registration, an event at the other starts its run', async () => {
    for (let i = 0; i < 2; i++) {
      const runner = await listening()
      await runner.register(one)
      const { triggered, runId } = await two.send({ name: runner.app })
      expect(triggered).toEqual([{ workflow: runner.app, app: runner.app, runId }])
      await one.succeeded(runId)
    }
  })

  test('a registration, the other pauses its schedule', async () => {
    for (let i = 0; i < 2; i++) {
      const runner = await listening(undefined, { triggers: [{ cron: '0 0 1 1 *' }] })
      await runner.register(one)
      const paused = await two.post(`/schedules/wf:${runner.app}:${runner.app}:0/pause`)
      expect(paused).toMatchObject({ status: 200, json: { paused: true } })
    }
  })

  test('another trigger, the event of the old one starts nothing', async () => {
    const runner = await listening()
    await runner.register(one)
    expect((await two.send({ name: runner.app })).triggered).toHaveLength(1)
    await runner.register(one, { workflows: [{ name: runner.app, triggers: [{ event: unique('else') }] }] })
    expect((await two.send({ name: runner.app })).triggered).toEqual([])
  })

  test('a registration, a dry run at the other shows it', async () => {
    const runner = await listening()
    await runner.register(one)
    const reported = (await two.post('/events?dryRun=1', { name: runner.app })).json as DryRunReply
    expect(reported).toMatchObject({ workflows: [{ workflow: runner.app }] })
  })

  test('a registration, a run that the other drives emits to it and calls it', async () => {
    const [heard, called] = [await listening(), await listening()]
    const parent = await listening(
      flow([
        run('register', () => Promise.all([heard, called].map(runner => runner.register(one)))),
        emit('say', heard.app),
        child('call', called.app),
      ]),
    )
    await parent.register(two)
    const { runId } = await two.send({ name: parent.app })
    await two.succeeded(runId)
    const [started] = await until(async () => {
      const runs = await two.runs(`?app=${heard.app}`)
      return runs.length > 0 && runs
    })
    await one.succeeded(started?.id as string)
  })

  test('a receiver, what a provider posts to the other is an event', async () => {
    const { json } = await one.post('/webhook-receivers', { eventName: unique('hook') })
    const { slug, scheme, secret } = json as Created
    const signed = { scheme, secret, body: '{}', at: Date.now() }
    expect((await postWebhook(two, slug, signed)).status).toBe(202)
    expect((await postWebhook(two, `${slug}x`, signed)).status).toBe(404)
  })

  test('that a receiver is disabled or deleted, the other takes no post for it', async () => {
    for (const close of ['disable', 'delete'] as const) {
      const { json } = await one.post('/webhook-receivers', { eventName: unique('closed') })
      const { id, slug, scheme, secret, eventName } = json as Created & { id: string; eventName: string }
      const signed = () => ({ scheme, secret, body: '{}', at: Date.now() })
      expect((await postWebhook(two, slug, signed())).status).toBe(202)
      const path = `/webhook-receivers/${id}`
      await (close === 'disable' ? one.patch(path, { enabled: false }) : one.request('DELETE', path))
      const posts = await Promise.all(Array.from({ length: 5 }, () => postWebhook(two, slug, signed())))
      expect(posts.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
      expect((await two.get(`/events?name=${eventName}`)).json).toHaveLength(1)
    }
  })

  test('a session or a key, both open the other', async () => {
    const made = async (path: string, body: object) =>
      (await one.post(path, body)).json as { token: string; key: string }
    for (let i = 0; i < 2; i++) {
      const { token } = await made('/session', { key: INBOUND_KEY })
      expect((await two.as(token).get('/whoami')).status).toBe(200)
      const { key } = await made('/keys', { kind: 'runner' })
      const client = await new ConnectClient(two.base, { key }).opened()
      client.send('hello', { protocolVersion: 1 })
      await until(() => client.frames.some(({ type }) => type === 'hello'), { what: 'the hello of the engine' })
      const opener = (await made('/keys', { kind: 'read' })).key
      expect((await two.post('/session', { key: opener })).status).toBe(201)
      const { administration, close } = await openAdministration(storeFile)
      const { key: ofCommand } = await administration.createKey({ kind: 'read' })
      await close()
      expect((await two.as(ofCommand).get('/runs')).status).toBe(200)
    }
    expect((await two.as(`${INBOUND_KEY}x`).get('/runs')).status).toBe(401)
  })

  test('registrations one after the other, every event at the other still has its answer', async () => {
    const runner = await listening()
    await runner.register(one)
    let going = true
    const storm = (async () => {
      for (let i = 0; going; i++) await runner.register(one, { region: `r${i}` })
    })()
    const sent = await Promise.all(
      Array.from({ length: 50 }, () => post({ name: runner.app }) as Promise<SendEventReply>),
    )
    going = false
    await storm
    expect(sent.filter(({ triggered }) => triggered?.length === 1)).toHaveLength(50)
  })
})
