// The events of one request are applied in their order: each as if it was posted when the earlier ones were durable
// (docs/events.md#send-many-events). On both databases and at two engines of one.

import { expect, test } from 'vitest'
import { type Api, flow, openEngines, openRunner, PLACES, unique, until, wait } from '../../kit/index.ts'
import { Rng } from '../../sim/core/random.ts'

const env = { ENGINE_QUEUE: 'memory' }
const LISTS = 2
const EVENTS_PER_LIST = 130

interface Reply {
  eventId: string
  runId?: string
  woke: number
  triggered: object[]
}

const sendAll = async (api: Api, events: unknown[]) => {
  const { status, json, text } = await api.post('/events/batch', events)
  expect(status, text).toBe(200)
  return json as Reply[]
}

test.each(PLACES)(
  'an event cancels what came before it, and wakes no later run, on %s',
  async (_, freshStore, count) => {
    const { api, other } = await openEngines(freshStore, count, { env })
    const [start, stop, go] = [unique('start'), unique('stop'), unique('go')]
    const runner = await openRunner({
      workflows: {
        live: {
          handler: flow([wait('w', go)]),
          registration: { triggers: [{ event: start }], cancelOn: [{ event: stop }] },
        },
      },
    })
    await runner.register(api)
    const started = await sendAll(other, [{ name: start }, { name: stop }, { name: go }, { name: start }])
    const [first, last] = [started[0]?.runId, started[3]?.runId] as [string, string]
    await api.reaches(first, 'cancelled')
    await api.reaches(last, 'waiting')
    // Open waits see an event once, and no event from before their runs.
    const woken = await sendAll(other, [{ name: go }, { name: go }, { name: start }, { name: go }])
    expect(woken.map(({ woke }) => woke)).toEqual([1, 0, 0, 0])
    for (const id of [last, woken[2]?.runId as string]) await api.succeeded(id)
    const taken = await api.run(woken[2]?.runId as string)
    const [step] = (await api.get(`/runs/${taken.id}/steps`)).json as { data: { id: string } }[]
    expect(step?.data.id).toBe(woken[3]?.eventId)
  },
)

/** Workflows with every policy that decides about an event. Their runs live as long as the test. */
const POLICIES = {
  once: { idempotency: { key: 'event.data.key', ttl: '1h' } },
  few: { idempotency: { key: 'event.data.n % 7', ttl: '1h' }, rateLimit: { limit: 3, period: '1h' } },
  limited: { rateLimit: { limit: 2, period: '1h', key: 'event.data.key' } },
  skipping: { singleton: { mode: 'skip', key: 'event.data.key' } },
  newest: { singleton: { mode: 'cancel', key: 'event.data.key' } },
  settled: { debounce: { period: '1h', key: 'event.data.key' } },
  gathered: { batch: { maxSize: 4, timeout: '1h', key: 'event.data.key' } },
  stoppable: { cancelOn: [{ event: 'order/stop', if: 'async.data.key == event.data.key' }] },
} as const

test.each(PLACES)('a list has the effects of its events one by one, on %s', async (_, freshStore, count) => {
  const { api, other } = await openEngines(freshStore, count, { env })
  const handler = flow([wait('w', 'never')])
  const workflowsOf = (app: string) => ({
    ...Object.fromEntries(
      Object.entries(POLICIES).map(([name, policies]) => {
        const triggers = [{ event: `order/${name}` }, { event: 'order/all' }]
        return [name, { handler, registration: { triggers, ...policies } }]
      }),
    ),
    // Waits see the events of every app.
    waiter: { handler: flow([wait('w', `order/go/${app}`)]), registration: { triggers: [{ event: 'order/wait' }] } },
  })
  const apps = [unique('together'), unique('apart')] as const
  for (const app of apps) {
    await (await openRunner({ app, workflows: workflowsOf(app) })).register(api)
    for (let i = 0; i < 3; i++) await api.reaches((await api.send({ name: 'order/wait', app })).runId, 'waiting')
  }
  const rng = new Rng(7, 'lists')
  const names = ['all', 'stop', 'go', 'unheard', ...Object.keys(POLICIES)]
  for (let list = 0; list < LISTS; list++) {
    const events = Array.from({ length: EVENTS_PER_LIST }, (_, n) => ({
      name: `order/${rng.pick(names)}`,
      data: { n: list * EVENTS_PER_LIST + n, key: rng.pick(['ada', 'bo', 'cy']) },
      ...(rng.chance(0.2) ? { dedupeId: `d${rng.int(0, 60)}` } : {}),
      ...(rng.chance(0.05) ? { delay: '1h' } : {}),
    }))
    const of = (event: (typeof events)[number], app: string) => ({
      ...event,
      app,
      name: event.name === 'order/go' ? `order/go/${app}` : event.name,
    })
    const at = list % 2 === 0 ? api : other
    const together = await sendAll(
      at,
      events.map(event => of(event, apps[0])),
    )
    const apart: Reply[] = []
    for (const event of events) apart.push((await at.post('/events', of(event, apps[1]))).json as Reply)
    for (const [i, reply] of together.entries())
      expect([i, events[i], alike(reply, apps)], `list ${list}`).toEqual([i, events[i], alike(apart[i], apps)])
  }
  const logs = await Promise.all(apps.map(app => logOf(api, app)))
  expect(logs[0]).toEqual(logs[1])
  expect(logs[0]).toEqual(logs[0]?.toSorted((a, b) => a - b))
  await until(async () => (await api.runs(`?app=${apps[0]}&workflow=newest&status=queued`)).length === 0)
})

/** The reply without the parts that differ between two apps. */
function alike(reply: unknown, [one, other]: readonly [string, string]): unknown {
  const text = JSON.stringify(reply).replaceAll(one, other)
  return JSON.parse(text.replaceAll(/"(run|evt)_[^"]*"/g, '"id"').replaceAll(/"at":"[^"]*"/g, '"at":""'))
}

/** The numbers of the app's events, in log order. */
async function logOf(api: Api, app: string): Promise<number[]> {
  const { json } = await api.get(`/events?app=${app}&limit=1000`)
  const events = json as { data?: { n: number } }[]
  return events.flatMap(({ data }) => data?.n ?? []).reverse()
}
