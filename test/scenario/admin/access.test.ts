// Which key may call which operation, and that no operation shows anything of another namespace
// (docs/security.md#keys-and-namespaces). The test iterates over all operations: a new one fails here until
// access.entries.ts has it.

import { type ListedOperation, operationList } from '@perdure/protocol/operations'
import { describe, expect, test } from 'vitest'
import {
  type Api,
  apiKeys,
  emit,
  flow,
  keyOf,
  openDestination,
  openEngine,
  PlainRunner,
  readSse,
  run,
  type SseMessage,
  scenario,
  step,
  stepId,
  until,
  wait,
} from '../../kit/index.ts'
import {
  ANSWERING,
  APP,
  AWAITED,
  BATCHED,
  BROKEN,
  ENTRIES,
  type Entry,
  type Holdings,
  PAYLOAD,
  RUNNER,
  WAITER,
  WORKFLOW,
} from './access.entries.ts'

const KINDS = ['secret', 'read', 'event', 'runner'] as const
type Kind = (typeof KINDS)[number]
const OPENS: Record<ListedOperation['access'], readonly Kind[]> = {
  public: KINDS,
  read: ['secret', 'read'],
  event: ['secret', 'event'],
  runner: ['secret', 'runner'],
  secret: ['secret'],
}
const WRONG = 'wrong-key-0123456789'
const labels = ['north', 'south'].flatMap(namespace => KINDS.map(kind => `${kind} of ${namespace}`))

const { engine } = await scenario({
  realTime: true,
  env: { ENGINE_API_KEYS: apiKeys(...labels), ENGINE_WEBHOOK_ALLOW_PRIVATE: '1' },
})
const open = await openEngine()
const [north, south] = ['north', 'south'].map(name => engine.api.as(keyOf('secret', name))) as [Api, Api]
const ALL = operationList
const entryOf = ({ id }: ListedOperation): Entry => ENTRIES[id] ?? {}
const held = await fillTheNorth()
const atFirst = await snapshot()

test('every operation has its entry', () => {
  expect(ALL.map(({ id }) => id).filter(id => !(id in ENTRIES))).toEqual([])
})

// Read-only operations come first, while `south` is still empty.
const READING_FIRST = ALL.filter(({ method }) => method === 'GET').concat(ALL.filter(({ method }) => method !== 'GET'))

describe.each(
  READING_FIRST.filter(
    operation => !entryOf(operation).common && !entryOf(operation).stream && !entryOf(operation).socket,
  ),
)('$id from the south', operation => {
  const { id, finds, elsewhere } = entryOf(operation)

  test('shows nothing of the north and changes nothing there', async () => {
    if (id !== undefined) await isAbsent(operation, held[id])
    for (const query of finds?.(held) ?? []) await findsNothing(operation, query)
    if (elsewhere !== undefined) {
      const { status, json } = await ask(south, operation)
      expect(status).toBe(operation.reply.status)
      expect(json).toMatchObject(elsewhere)
    }
    expect(id ?? finds ?? elsewhere, 'the entry says what to look at').toBeDefined()
    if (operation.method !== 'GET') expect(await snapshot()).toEqual(atFirst)
  })
})

test('a dry run from the south finds nothing of the north', async () => {
  const [there, here] = await Promise.all([north, south].map(api => api.post('/events?dryRun=1', { name: WORKFLOW })))
  expect(there?.json).toMatchObject({ workflows: [{ workflow: WORKFLOW, app: APP }] })
  expect(here?.json).toEqual({ dryRun: true, waiters: 0, workflows: [] })
  expect((await south.post('/events?dryRun=1', { name: AWAITED })).json).toMatchObject({ waiters: 0 })
})

test('a read key opens a dry run of an event, and no other dry run and no event', async () => {
  const reader = engine.api.as(keyOf('read', 'north'))
  const event = { name: WORKFLOW }
  expect(await reader.post('/events?dryRun=1', event)).toMatchObject({ status: 200, json: { dryRun: true } })
  for (const query of ['', '?dryRun=0', '?dryRun=true', '?dryRun=0&dryRun=1', '?dryrun=1'])
    expect(await reader.post(`/events${query}`, event), query).toMatchObject({ status: 403, code: 'forbidden' })
  for (const path of [`/workflows/${APP}/${WORKFLOW}/runs`, '/bulk', '/events/redrive'])
    expect(await reader.post(`${path}?dryRun=1`, { dryRun: true }), path).toMatchObject({ status: 403 })
  expect(await engine.api.as(keyOf('runner', 'north')).post('/events?dryRun=1', event)).toMatchObject({
    status: 403,
    json: { error: { details: { needs: ['secret', 'event', 'read'] } } },
  })
  expect(await snapshot()).toEqual(atFirst)
})

// If the path names an object, the other namespace finds nothing, and so gets no cursor.
test.each(ALL.filter(operation => operation.reply.pages && entryOf(operation).id === undefined))(
  '$id takes no cursor of another namespace',
  async operation => {
    const cursor = (await ask(north, operation, { query: 'limit=1' })).headers.get('x-next-cursor')
    const query = `limit=1&cursor=${encodeURIComponent(cursor as string)}`
    expect(await ask(north, operation, { query })).toMatchObject({ status: 200, json: [{}] })
    expect(await ask(south, operation, { query })).toMatchObject({ status: 400, code: 'invalid_cursor' })
  },
)

/** The namespace `south` knows no object of `north`. */
async function isAbsent(operation: ListedOperation, id: string): Promise<void> {
  const never = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`
  const [there, nowhere] = [await ask(south, operation, { id }), await ask(south, operation, { id: never })]
  for (const answer of [there, nowhere]) expect(answer).toMatchObject({ status: 404, code: 'not_found' })
  const said = ({ json }: Answer, asked: string) =>
    (json as { error: { message: string } }).error.message.replaceAll(asked.split('/').at(-1) as string, '')
  expect(said(there, id)).toBe(said(nowhere, never))
  if (operation.method === 'GET') expect((await ask(north, operation, { id })).status).toBe(200)
}

async function findsNothing(operation: ListedOperation, query: string): Promise<void> {
  expect((await ask(north, operation, { query })).json, query).not.toEqual([])
  const { status, json, headers } = await ask(south, operation, { query })
  expect({ status, json }, query).toEqual({ status: 200, json: [] })
  expect(headers.get('x-next-cursor')).toBeNull()
}

test.each(ALL.filter(operation => entryOf(operation).stream))('$id shows its own namespace alone', async operation => {
  const { query } = entryOf(operation)
  const path = query === undefined ? operation.path : `${operation.path}?${query}`
  const app = `south-${path.split('/')[1]}`
  const runner = await new PlainRunner({ app, workflows: { [app]: flow([run('work')]) } }).listen()
  await runner.register(south)
  const seen = { north: new Set<string>(), south: new Set<string>() }
  const isOf =
    (side: 'north' | 'south') =>
    ({ data }: SseMessage) =>
      seen[side].has(idOf(data))
  const follow = (side: 'north' | 'south') =>
    readSse(engine.url + path, {
      headers: { authorization: `Bearer ${keyOf('read', side)}` },
      stopWhen: messages => messages.some(isOf(side)),
    })
  let following = true
  const both = Promise.all([follow('north'), follow('south')]).finally(() => {
    following = false
  })
  // Repeated, because a stream sends only changes after its opening.
  while (following) {
    for (const [side, api, name] of [
      ['north', north, WORKFLOW],
      ['south', south, app],
    ] as const) {
      const { runId, eventId } = await api.send({ name })
      seen[side].add(runId).add(eventId)
      await api.succeeded(runId)
    }
  }
  const [ofNorth, ofSouth] = await both
  expect(ofSouth.messages.length).toBeGreaterThan(0)
  expect(ofSouth.messages.every(isOf('south'))).toBe(true)
  expect(ofNorth.messages.some(isOf('south'))).toBe(false)
})

/** The app of a frame's run or event. */
function idOf({ runId, id }: Record<string, unknown>): string {
  return String(runId ?? id)
}

describe.each(ALL)('$id ($access)', operation => {
  const { access, alwaysKeyed } = operation
  const isLetIn = ({ status }: Answer) =>
    status === operation.reply.status ||
    status === entryOf(operation).letIn ||
    (status === 404 && operation.path.includes('{')) ||
    // The request has no upgrade.
    (status === 400 && entryOf(operation).socket === true)

  test('is opened by the right kinds of key, and by no others', async () => {
    for (const kind of KINDS) {
      const answer = await ask(engine.api.as(keyOf(kind, 'north')), operation)
      if (OPENS[access].includes(kind)) expect(isLetIn(answer), `${kind}: ${answer.status} ${answer.text}`).toBe(true)
      else expect(answer, kind).toMatchObject({ status: 403, code: 'forbidden' })
    }
  })

  test('is 401 without a key and with a wrong one, unless it is public', async () => {
    for (const api of [engine.api, engine.api.as(WRONG)]) {
      const answer = await ask(api, operation)
      if (access === 'public') expect(isLetIn(answer), answer.text).toBe(true)
      else {
        expect(answer).toMatchObject({ status: 401, code: 'unauthorized' })
        expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
      }
    }
  })

  test('without any key in the engine it is open, unless it always needs one; a wrong key is 401 even there', async () => {
    const answer = await ask(open.api, operation)
    if (alwaysKeyed) expect(answer).toMatchObject({ status: 401, code: 'unauthorized' })
    else expect(isLetIn(answer), answer.text).toBe(true)
    const wrong = await ask(open.api.as(WRONG), operation)
    if (access === 'public') expect(isLetIn(wrong), wrong.text).toBe(true)
    else expect(wrong).toMatchObject({ status: 401, code: 'unauthorized' })
  })
})

type Answer = Awaited<ReturnType<Api['request']>>

/** Sends one valid request. If the path needs an id and none is given, an unknown id is used. An app and a name are one id. */
async function ask(
  api: Api,
  operation: ListedOperation,
  { id = 'nobody', query = entryOf(operation).query ?? '' } = {},
): Promise<Answer> {
  const { body } = entryOf(operation)
  const ids = id.split('/')
  const named = operation.path.replace('{stepId}', stepId('work')).replaceAll(/\{\w+\}/g, () => ids.shift() ?? id)
  const path = `${named}${query && `?${query}`}`
  return api.request(operation.method, path, {
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    ...(operation.reply.stream ? { headOnly: true } : {}),
  })
}

/** Everything that the lists of `north` show, except the rates and the liveness of its runners, which change as time passes. */
async function snapshot(): Promise<Record<string, unknown>> {
  const lists = ALL.filter(operation => entryOf(operation).finds)
  const shown = await Promise.all(lists.map(async list => [list.id, timeless((await ask(north, list)).text)] as const))
  return Object.fromEntries(shown)
}

function timeless(text: string): unknown {
  return JSON.parse(text, (key, value) => (key === 'passesPerMin' || key === 'live' ? undefined : value))
}

/** Creates at least one object of every kind, and two of the kinds that are listed in pages. */
async function fillTheNorth(): Promise<Holdings> {
  const destination = await openDestination()
  const post = step('Webhook', 'post', { webhookUrl: destination.url, data: PAYLOAD })
  const order = flow([run('work', () => PAYLOAD), emit('say', 'north-said'), post])
  const asked = step('WaitForSignal', 'asked', { signal: 'ask' })
  const answer = step('ReplyToUpdate', 'answer', (_, { asked }) => ({ updateId: (asked as { id: string }).id }))
  const broken = () => ({ status: 400, body: { error: { message: 'broken' }, logs: [] } })
  const batched = { handler: order, registration: { batch: { maxSize: 9, timeout: '1h', key: 'event.data' } } }
  const workflows = {
    [BATCHED]: batched,
    [WORKFLOW]: order,
    [WAITER]: flow([wait('wait', AWAITED)]),
    [BROKEN]: broken,
    [ANSWERING]: flow([asked, answer]),
  }
  const runner = await new PlainRunner({ app: APP, runner: RUNNER, workflows }).listen()
  await runner.register(north)
  const { runId, eventId } = await north.send({ name: WORKFLOW })
  await north.succeeded(runId)
  const { id: fork } = (await north.post(`/runs/${runId}/replay`)).json as { id: string }
  await north.succeeded(fork)
  const waiting = await north.send({ name: WAITER })
  await north.reaches(waiting.runId, 'waiting')
  await north.reaches((await north.send({ name: BROKEN })).runId, 'failed')
  const paused = await north.send({ name: WAITER })
  await north.reaches(paused.runId, 'waiting')
  await north.post(`/runs/${paused.runId}/pause`)
  const delivered = async () => (await north.get('/webhook-deliveries?status=succeeded')).json as { id: string }[]
  await until(async () => (await delivered()).length === 2, { what: 'two deliveries' })
  const { deliveryId } = await north.step(runId, 'post')
  const { runId: answering } = await north.send({ name: ANSWERING })
  const { json } = await north.post(`/runs/${answering}/updates/ask?wait=20s`)
  return {
    run: runId,
    fork,
    event: eventId,
    waiting: waiting.runId,
    update: `${answering}/${(json as { updateId: string }).updateId}`,
    paused: paused.runId,
    delivery: deliveryId as string,
    endpoint: await made('createWebhookEndpoint'),
    receiver: await made('createWebhookReceiver'),
    key: await made('createApiKey'),
    scheduled: await scheduled(),
    schedule: await schedules(),
    bulk: await bulk(),
    buffer: await buffers(),
    app: await apps(),
    workflow: `${APP}/${WORKFLOW}`,
    erasable: (await north.send({ name: 'nobody' })).eventId,
    view: await view(),
    error: ((await north.get('/errors')).json as { fingerprint: string }[])[0]?.fingerprint as string,
  }
}

/** Two jobs that find nothing: a list has a second page. */
async function bulk(): Promise<string> {
  const body = { action: 'cancel', ids: ['run_none'] }
  const start = async () => ((await north.post('/bulk', body)).json as { bulkId: string }).bulkId
  await start()
  return start()
}

async function view(): Promise<string> {
  await north.put('/views/north-view', { name: 'north', query: '' })
  return 'north-view'
}

/** An app that `south` does not register. */
async function apps(): Promise<string> {
  const app = 'north-store'
  await north.post('/register', { app, runner: app, url: 'http://127.0.0.1:9/', workflows: [] })
  return app
}

/** Two batches of one event: a list has a second page. */
async function buffers(): Promise<string> {
  for (const data of ['north-1', 'north-2']) await north.send({ name: BATCHED, data })
  const [buffer] = (await north.get('/buffers')).json as { id: string }[]
  return buffer?.id as string
}

/** Two events that arrive later: a list has a second page. */
async function scheduled(): Promise<string> {
  const later = async () => (await north.post('/events', { name: WORKFLOW, delay: '1h' })).json as { eventId: string }
  await later()
  return (await later()).eventId
}

/** Two schedules: a list has a second page. */
async function schedules(): Promise<string> {
  const put = (id: string) => north.put(`/schedules/${id}`, { every: '1h', event: { name: WORKFLOW } })
  await put('north-hourly')
  return ((await put('north-report')).json as { id: string }).id
}

async function made(operationId: string): Promise<string> {
  const operation = ALL.find(({ id }) => id === operationId)
  if (!operation) return 'none'
  return ((await ask(north, operation)).json as { id: string }).id
}
