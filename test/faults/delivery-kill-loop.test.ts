// Repeated kill -9 while webhooks are delivered: no delivery is lost, a repeated POST carries the id of the first,
// every POST is an attempt, and the list of attempts only grows. `PERDURE_KILLS` and `PERDURE_SEED` work as in the
// kill loop of runs.

import { expect, test } from 'vitest'
import { CUT_OFF_ERROR } from '../../packages/engine/src/domain/webhook/delivery-attempt.ts'
import { type Api, acts, EngineProcess, openDestination, PlainRunner, returned, seeded, until } from '../kit/index.ts'
import { answer, type RawRequest } from '../kit/servers/raw-server.ts'
import { API_KEYS, type AttemptRecord, type DeliveryRecord, SECRET_KEY, Webhooks } from '../kit/webhook/webhooks.ts'
import { isNight, SEED } from '../part.ts'
import { Availability } from './kill/availability.ts'

/** Every kill happens with POSTs in flight, so a few kills find much. */
const KILLS = Number(process.env.PERDURE_KILLS ?? (isNight ? 25 : 4))
const EVENTS_A_ROUND = 4
/** Each endpoint has its own queue, so that several POSTs are in flight at once. */
const ENDPOINTS = 4
/** A delivery succeeds at its third POST. */
const FAILURES = 2
const SETTLE_MS_MAX = 60_000
const TITLE = `${KILLS} kills: no delivery lost, one message id each, attempts only appended`

test(TITLE, { timeout: 180_000 + KILLS * 4000 }, async () => {
  const env = {
    ENGINE_API_KEYS: API_KEYS,
    ENGINE_WEBHOOK_ALLOW_PRIVATE: '1',
    ENGINE_WEBHOOK_SCHEDULE: Array(90).fill('150ms').join(','),
    ENGINE_LOG_LEVEL: 'error',
  }
  const random = seeded(SEED)
  const posts: { messageId: string; runId: string }[] = []
  const destination = await openDestination(request => {
    const { type, data } = JSON.parse(request.body) as { type: string; data: { run: { id: string } } }
    expect(type).toBe('run.succeeded')
    const messageId = request.headers['webhook-id'] as string
    const n = posts.filter(post => post.messageId === messageId).length
    posts.push({ messageId, runId: data.run.id })
    answerSoon(request, n < FAILURES ? 500 : 200, random.between(20, 250))
  })
  const engine = await new EngineProcess({ env }).start()
  const api = engine.api.as(SECRET_KEY)
  const webhooks = new Webhooks(api)
  const runner = await new PlainRunner({
    runner: 'steady',
    workflows: { notified: () => returned({ ok: true }) },
  }).listen()
  await runner.register(api)
  const { app } = runner
  for (let i = 0; i < ENDPOINTS; i++) await webhooks.endpoint({ app, url: destination.url })
  await engine.kill9()

  const availability = new Availability()
  const log = new AttemptLog(webhooks)
  const sent: Promise<void>[] = []
  for (let i = 0; i < KILLS; i++) {
    await engine.start()
    availability.up()
    const looked = log.look(app).catch(() => {})
    // Every second read runs to its end, however slow the machine is. The others may be cut off.
    if (i % 2 === 0) await looked
    // Waits for POSTs after the read, however long it took: all earlier ones may have arrived meanwhile.
    for (let j = 0; j < EVENTS_A_ROUND; j++) sent.push(sendOnce(api, availability, { app, token: `${i}.${j}` }))
    // The destination delays its answers, so the engine dies with POSTs in flight.
    const enough = posts.length + random.between(1, 8)
    await until(() => posts.length >= enough, { what: 'POSTs to be cut off', deadlineMs: SETTLE_MS_MAX })
    availability.down()
    await engine.kill9()
    await looked
  }
  await engine.start()
  availability.up()
  await Promise.all(sent)

  const all = await until(
    async () => {
      const found = await webhooks.list(`?app=${app}&limit=1000`)
      return found.length === sent.length * ENDPOINTS && found.every(({ status }) => status === 'succeeded') && found
    },
    {
      deadlineMs: SETTLE_MS_MAX,
      what: `${sent.length * ENDPOINTS} deliveries that have arrived (seed ${SEED})`,
    },
  )
  const summary = `seed ${SEED}: ${KILLS} kills, ${all.length} deliveries, ${posts.length} posts, ${log.seen} looks`
  console.log(summary)

  // One delivery for each run and endpoint, and one message id for each delivery.
  expect(new Set(all.map(({ sourceRunId }) => sourceRunId)).size, summary).toBe(sent.length)
  expect(new Set(all.map(({ sourceRunId, endpointId }) => `${sourceRunId} ${endpointId}`)).size).toBe(all.length)
  const pairs = new Set(posts.map(({ messageId, runId }) => `${messageId} ${runId}`))
  expect(pairs, summary).toEqual(new Set(all.map(({ id, sourceRunId }) => `${id} ${sourceRunId}`)))

  let cutOff = 0
  for (const { id } of all) {
    const { attempts, attemptCount } = await webhooks.delivery(id)
    expect(attempts.map(({ attempt }) => attempt)).toEqual(attempts.map((_, i) => i + 1))
    expect(attempts).toHaveLength(attemptCount)
    expect(new Set(attempts.map(attempt => attempt.id)).size).toBe(attempts.length)
    const made = posts.filter(post => post.messageId === id).length
    expect(made, summary).toBeGreaterThanOrEqual(FAILURES + 1)
    // A kill between the claim and the POST leaves an attempt without a request.
    expect(made, summary).toBeLessThanOrEqual(attempts.length)
    cutOff += attempts.filter(({ error }) => error === CUT_OFF_ERROR).length
    expect(attempts.at(-1)?.outcome).toBe('succeeded')
    for (const earlier of log.of(id)) expect(attempts.slice(0, earlier.length), summary).toEqual(earlier)
  }
  expect(log.attempts, 'the attempts were read while they grew').toBeGreaterThan(KILLS)
  expect(cutOff, 'kills met deliveries on their way').toBeGreaterThan(0)
  expect(await engine.sigterm()).toMatchObject({ code: 0 })
})

test('a destination whose POST kills the engine is not posted to without end', async () => {
  const env = {
    ENGINE_API_KEYS: API_KEYS,
    ENGINE_WEBHOOK_ALLOW_PRIVATE: '1',
    ENGINE_WEBHOOK_SCHEDULE: '100ms,100ms',
    ENGINE_LOG_LEVEL: 'error',
  }
  const destination = await openDestination(acts.hang)
  const engine = await new EngineProcess({ env }).start()
  const webhooks = new Webhooks(engine.api.as(SECRET_KEY))
  const { runId, app } = await runWithEndpoint(webhooks, destination.url)
  for (let posts = 1; posts <= 3; posts++) {
    await until(() => destination.requests.length === posts, {
      what: `POST ${posts}`,
      deadlineMs: SETTLE_MS_MAX,
    })
    await engine.kill9()
    await engine.start()
  }
  const [{ id } = { id: '' }] = await webhooks.list(`?app=${app}`)
  const { attempts, sourceRunId, maxAttempts } = await webhooks.reaches(id, 'exhausted', 3)
  expect([sourceRunId, maxAttempts, destination.requests.length]).toEqual([runId, 3, 3])
  expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
  for (const attempt of attempts)
    expect(attempt).toMatchObject({
      outcome: 'connection_error',
      error: CUT_OFF_ERROR,
      durationMs: 0,
    })
  // A manual redelivery starts another schedule.
  expect((await webhooks.api.post(`/webhook-deliveries/${id}/redeliver`)).status).toBe(204)
  await until(() => destination.requests.length === 4, { what: 'the POST of the redelivery' })
})

test('a POST in flight at a graceful stop is one attempt, the one that ended', async () => {
  const destination = await openDestination(request => {
    engine.signal('SIGTERM')
    answerSoon(request, 200, 300)
  })
  const env = { ENGINE_API_KEYS: API_KEYS, ENGINE_WEBHOOK_ALLOW_PRIVATE: '1' }
  const engine = await new EngineProcess({ env }).start()
  const webhooks = new Webhooks(engine.api.as(SECRET_KEY))
  const { app } = await runWithEndpoint(webhooks, destination.url)
  expect(await engine.exit).toMatchObject({ code: 0 })
  await engine.start()
  const [delivery] = await webhooks.list(`?app=${app}`)
  expect(delivery).toMatchObject({ status: 'succeeded', attemptCount: 1 })
  expect(destination.requests).toHaveLength(1)
})

/** Ends a run of a new app with an endpoint at that URL. */
async function runWithEndpoint(webhooks: Webhooks, url: string): Promise<{ app: string; runId: string }> {
  const runner = await new PlainRunner({ workflows: { notified: () => returned({ ok: true }) } }).listen()
  await runner.register(webhooks.api)
  const { app } = runner
  await webhooks.endpoint({ app, url })
  return { app, runId: (await webhooks.api.send({ name: 'notified', app })).runId }
}

function answerSoon(request: RawRequest, status: number, delayMs: number): void {
  setTimeout(() => answer(request, status), delayMs)
}

/** Posts an event until it is acknowledged. The engine drops a repeat as a duplicate. */
async function sendOnce(api: Api, { whenUp }: Availability, event: { app: string; token: string }): Promise<void> {
  const { app, token } = event
  for (;;) {
    await whenUp()
    try {
      const { status } = await api.post('/events', {
        name: 'notified',
        app,
        data: { token },
        dedupeId: token,
      })
      if (status === 202) return
    } catch {
      // The engine is gone; the post is repeated once it is back.
    }
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

/** The attempts read during the test, for the comparison at the end. */
class AttemptLog {
  readonly #webhooks: Webhooks
  readonly #seen = new Map<string, AttemptRecord[][]>()
  seen = 0
  attempts = 0

  constructor(webhooks: Webhooks) {
    this.#webhooks = webhooks
  }

  of(id: string): AttemptRecord[][] {
    return this.#seen.get(id) ?? []
  }

  /** Reads already attempted deliveries until the engine is killed. */
  async look(app: string): Promise<void> {
    const tried = (await this.#webhooks.list(`?app=${app}&limit=200`)).filter(({ attemptCount }) => attemptCount > 0)
    for (const { id } of tried.slice(0, 20) as DeliveryRecord[]) {
      const { attempts } = await this.#webhooks.delivery(id)
      this.#seen.set(id, [...this.of(id), attempts])
      this.seen++
      this.attempts += attempts.length
    }
  }
}
