// Repeats all deliveries that match a filter (docs/webhooks.md#redelivery).

import { describe, expect, test } from 'vitest'
import { acts, gate, JumpClock, openDestination, scenario } from '../../kit/index.ts'
import { answer, type RawRequest } from '../../kit/servers/raw-server.ts'
import { API_KEYS, hastySender, SECRET_KEY, Webhooks } from '../../kit/webhook/webhooks.ts'

const clock = new JumpClock()
const env = { ENGINE_API_KEYS: API_KEYS, ENGINE_WEBHOOK_SCHEDULE: '10s,20s' }
const { engine } = await scenario({ clock, env, ports: { sender: hastySender(clock, 400) } })
const webhooks = new Webhooks(engine.api.as(SECRET_KEY))
const { api } = webhooks

describe('POST /webhook-deliveries/redeliver', () => {
  const NONE = { matched: 0, queued: 0, skipped: 0, capped: false }
  const redeliver = (body: object, as = api) => as.post('/webhook-deliveries/redeliver', body)
  /** An app with a dead delivery, and an endpoint that now answers. */
  async function refused() {
    const destination = await openDestination(acts.status(400), acts.status(200))
    const delivered = await webhooks.deliverOne(destination.url)
    await webhooks.reaches(delivered.id, 'dead', 1)
    return { ...delivered, destination }
  }

  test('counts what matches the filter, queues it, and records that once', async () => {
    const [mine, other] = [await refused(), await refused()]
    const { app, endpointId, runId } = mine
    const since = '2020-01-01T00:00:00.000Z'
    const filter = { app, endpointId, status: 'dead', eventKind: 'run.succeeded', sourceRunId: runId, since }
    const at = new Date(clock.now()).toISOString()
    for (const [narrowed, matched] of [
      [filter, 1],
      [{ ...filter, since: at, until: at }, 0],
      [{ ...filter, status: 'succeeded' }, 0],
      [{ ...filter, eventKind: 'custom' }, 0],
      [{ ...filter, endpointId: other.endpointId }, 0],
    ] as const)
      expect((await redeliver({ filter: narrowed, dryRun: true })).json).toEqual({ ...NONE, matched, queued: matched })
    expect(await webhooks.delivery(mine.id)).toMatchObject({ status: 'dead', attemptCount: 1 })
    const counts = { ...NONE, matched: 1, queued: 1 }
    expect(await redeliver({ filter })).toMatchObject({ status: 200, json: counts })
    expect(await webhooks.reaches(mine.id, 'succeeded', 2)).toMatchObject({ maxAttempts: 4 })
    expect(await webhooks.delivery(other.id)).toMatchObject({ status: 'dead', attemptCount: 1 })
    const entries = (await api.get('/control-actions?action=bulk.redeliver')).json as object[]
    expect(entries).toEqual([expect.objectContaining({ actor: 'ops', detail: { filter, ...counts } })])
  })

  test('skips a delivery that is under way', async () => {
    const arrived = gate<RawRequest>()
    const destination = await openDestination(request => arrived.open(request))
    const { id, app } = await webhooks.deliverOne(destination.url)
    const request = await arrived.opened
    const counts = { ...NONE, matched: 1, skipped: 1 }
    expect((await redeliver({ filter: { app }, dryRun: true })).json).toEqual(counts)
    expect((await redeliver({ filter: { app } })).json).toEqual(counts)
    answer(request, 200)
    expect(await webhooks.reaches(id, 'succeeded', 1)).toMatchObject({ maxAttempts: 3 })
  })

  test('two requests at once queue each delivery once', async () => {
    const { app } = await refused()
    const filter = { app, status: 'dead' }
    const answers = await Promise.all([redeliver({ filter }), redeliver({ filter }), redeliver({ filter })])
    const queued = answers.map(({ json }) => (json as typeof NONE).queued)
    expect(queued.reduce((sum, each) => sum + each, 0)).toBe(1)
  })

  test.each<[object, string]>([
    [{}, 'filter'],
    [{ filter: {} }, 'filter'],
    [{ filter: { status: 'lost' } }, 'filter.status'],
    [{ filter: { since: 'yesterday' } }, 'filter.since'],
    [{ filter: { app: 'x'.repeat(129) } }, 'filter.app'],
    [{ filter: { status: 'dead', wrong: 1 } }, 'wrong'],
  ])('refuses %j, naming %s', async (body, name) => {
    const refusal = await redeliver(body)
    expect(refusal).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(refusal.text).toContain(name)
  })
})
