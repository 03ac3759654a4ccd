// An engine with at least one row for every page of the console, and the address of every route there.

import type { SendEventReply } from '@perdure/protocol'
import { buildUrl, type Params, type RouteName } from '../../../packages/console/src/router/routes.ts'
import { flow, openEngine, openRunner, run, unique, until, wait } from '../index.ts'

const SECRET = { label: 'ops', namespace: 'default', kind: 'secret', key: 'a secret key of a test' }

interface Shop {
  engine: Awaited<ReturnType<typeof openEngine>>
  /** The token of a session that may write. */
  token: string
  /** The path of every route, below the console's root, with rows of this engine. */
  paths: Readonly<Record<RouteName, string>>
}

/** Words in the names of the shop, for tests that want other names. */
export interface ShopNames {
  workflow?: string
  app?: string
  error?: string
}

export async function openShop(names: ShopNames = {}): Promise<Shop> {
  // An engine without keys has no endpoint, receiver or key.
  const env = { ENGINE_WEBHOOK_ALLOW_PRIVATE: '1', ENGINE_API_KEYS: JSON.stringify([SECRET]) }
  const engine = await openEngine({ env })
  const api = engine.api.as(SECRET.key)
  const { workflow: name = 'process-order', app = unique('shop'), error = 'card 4711 was refused' } = names
  const refuse = () => {
    throw Object.assign(new Error(error), { retriable: false })
  }
  const registration = {
    triggers: [{ event: 'order.placed', if: 'event.data.total > 10' }, { cron: '0 9 * * 1-5' }],
    concurrency: { limit: 2, key: 'event.data.customer' },
  }
  const runner = await openRunner({
    app,
    workflows: {
      [name]: { handler: flow([run('charge-card'), wait('approval', 'order.approved')]), registration },
      broken: { handler: flow([run('refuse', refuse)]), registration: { retry: { maxAttempts: 1 } } },
    },
  })
  await runner.register(api)
  const { token } = (await engine.api.post('/session', { key: SECRET.key, kind: 'secret' })).json as { token: string }
  const data = { total: 20, customer: 'acct-17' }
  const { eventId } = (await api.post('/events', { name: 'order.placed', data })).json as SendEventReply
  const endpoint = { url: 'http://127.0.0.1:9/', eventKinds: ['run.failed'] }
  const endpointId = idOf((await api.post('/webhook-endpoints', endpoint)).json)
  const receiver = { scheme: 'github', eventName: 'github/push', name: 'pushes' }
  const receiverId = idOf((await api.post('/webhook-receivers', receiver)).json)
  const failed = await api.send({ name: 'broken' })
  await api.reaches(failed.runId, 'failed')
  await api.put('/schedules/weekly-report', { cron: '0 9 * * 1', event: { name: 'report/weekly' } })
  await api.post(`/runs/${failed.runId}/replay`)
  const deliveries = async () => (await api.get('/webhook-deliveries')).json as { id: string }[]
  const deliveryId = idOf(await until(async () => (await deliveries())[0], { what: 'a delivery' }))
  const { bulkId } = (await api.post('/bulk', { action: 'replay', ids: [failed.runId] })).json as { bulkId: string }
  const [group] = (await api.get('/errors')).json as { fingerprint: string }[]
  // The group has regressed: it was resolved, and one of its runs has failed since.
  await api.put(`/errors/${group?.fingerprint}/state`, { state: 'resolved' })
  await api.reaches((await api.send({ name: 'broken' })).runId, 'failed')
  const params: { [Name in RouteName]: Params<Name> } = {
    ...NONE,
    run: { id: failed.runId },
    workflow: { app, name },
    app: { app },
    event: { id: idOf({ id: eventId }) },
    errorGroup: { fingerprint: group?.fingerprint ?? '' },
    delivery: { id: deliveryId },
    endpoint: { id: endpointId },
    receiver: { id: receiverId },
    bulk: { id: bulkId },
  }
  const entries = Object.entries(params) as [RouteName, Params<RouteName>][]
  const paths = entries.map(([route, values]) => [route, buildUrl('default', route, values as never)])
  return { engine, token, paths: Object.fromEntries(paths) as Shop['paths'] }
}

/** The routes whose paths name no object. */
export const NONE = {
  overview: {},
  runs: {},
  workflows: {},
  events: {},
  sendEvent: {},
  schedules: {},
  limits: {},
  runners: {},
  errors: {},
  deliveries: {},
  endpoints: {},
  receivers: {},
  audit: {},
  keys: {},
  engine: {},
  bulks: {},
  bundle: {},
} as const

function idOf(body: unknown): string {
  const { id } = body as { id?: string }
  if (!id) throw new Error(`no id in ${JSON.stringify(body)}`)
  return id
}
