// Posts to endpoints over time, with percentiles of their durations: `GET /webhook-endpoints/series` (docs/webhooks.md#deliveries).

import type { WebhookSeriesPoint } from '@perdure/protocol'
import { expect, test } from 'vitest'
import type { SendReply } from '../../../packages/engine/src/ports/sender.ts'
import { JumpClock, scenario } from '../../kit/index.ts'
import { API_KEYS, OTHER_KEY, SECRET_KEY, Webhooks } from '../../kit/webhook/webhooks.ts'

const HOUR_MS = 3_600_000
const clock = new JumpClock()
clock.jumpTo(Math.ceil(clock.now() / (24 * HOUR_MS)) * 24 * HOUR_MS + 10_000)
/** A real server cannot produce durations to the millisecond, so this sender gives the reply that the path names. */
const sender = {
  send: async ({ url }: { url: string }): Promise<SendReply> => {
    const [, kind, ms] = new URL(url).pathname.split('/')
    if (kind === 'timeout') return { kind, error: 'no answer', durationMs: Number(ms) }
    if (kind === 'reset') return { kind: 'connectionError', error: 'reset', durationMs: Number(ms) }
    return { kind: 'answered', status: Number(kind), responseSnippet: '', durationMs: Number(ms) }
  },
  close: async () => {},
}
const env = { ENGINE_API_KEYS: API_KEYS, ENGINE_WEBHOOK_SCHEDULE: '10s' }
const { engine } = await scenario({ clock, env, ports: { sender, random: { next: () => 0.5 } } })
const webhooks = new Webhooks(engine.api.as(SECRET_KEY))
const { api } = webhooks
const start = clock.now() - 10_000

async function series(query = '', as = api): Promise<WebhookSeriesPoint[]> {
  const { status, text, json } = await as.get(`/webhook-endpoints/series${query}`)
  expect(status, text).toBe(200)
  return json as WebhookSeriesPoint[]
}
const at = (ms: number) => new Date(ms).toISOString()
const to = (path: string) => webhooks.deliverOne(`https://hooks.example${path}`)
/** A percentile is the middle of the class of its duration. */
const near = (ms: number) => expect.closeTo(ms, -Math.log10(2 * 0.09 * ms + 2))

test('counts every post by its end: of one endpoint, or of all', async () => {
  const quick = await to('/200/100')
  await webhooks.reaches(quick.id, 'succeeded', 1)
  const down = await to('/503/1000')
  await webhooks.reaches(down.id, 'failed', 1)
  clock.jump(HOUR_MS)
  await webhooks.reaches(down.id, 'exhausted', 2)
  const slow = await to('/timeout/15000')
  await webhooks.reaches(slow.id, 'failed', 1)
  const reset = await to('/reset/3')
  await webhooks.reaches(reset.id, 'failed', 1)

  const since = `since=${at(start)}`
  const [first, second, ...rest] = await series(`?${since}`)
  expect(rest).toEqual([])
  expect(first).toEqual({ at: at(start), succeeded: 1, failed: 1, p50Ms: near(100), p95Ms: near(1000) })
  expect(second).toEqual({ at: at(start + HOUR_MS), succeeded: 0, failed: 3, p50Ms: near(1000), p95Ms: near(15_000) })
  expect(await series(`?${since}&endpointId=${down.endpointId}`)).toEqual([
    { at: at(start), succeeded: 0, failed: 1, p50Ms: near(1000), p95Ms: near(1000) },
    { at: at(start + HOUR_MS), succeeded: 0, failed: 1, p50Ms: near(1000), p95Ms: near(1000) },
  ])
  expect(await series(`?${since}&endpointId=${reset.endpointId}`)).toEqual([
    { at: at(start), succeeded: 0, failed: 0 },
    { at: at(start + HOUR_MS), succeeded: 0, failed: 1 },
  ])
  expect(await series(`?${since}&step=1d`)).toMatchObject([{ at: at(start), succeeded: 1, failed: 4 }])
  const fine = await series(`?${since}&step=5m&until=${at(start + 300_000)}`)
  expect(fine).toMatchObject([{ at: at(start), succeeded: 1, failed: 1 }])
})

test('gives 24 hours by default, and nothing of another namespace', async () => {
  const points = await series('', api.as(OTHER_KEY))
  expect(points).toHaveLength(24)
  for (const { at: _, ...point } of points) expect(point).toEqual({ succeeded: 0, failed: 0 })
})

test('neither custom sends nor attempts that posted nothing count', async () => {
  const { id, endpointId } = await to('/503/50')
  await webhooks.reaches(id, 'failed', 1)
  await webhooks.edit(endpointId, { enabled: false })
  clock.jump(10_000)
  await webhooks.reaches(id, 'dead', 2)
  const [point] = (await series(`?endpointId=${endpointId}&step=1d`)).slice(-1)
  expect(point).toMatchObject({ succeeded: 0, failed: 1 })
})

test('more than 750 points, and spans that are not kept, are refused by name', async () => {
  for (const query of [
    `?step=5m&since=${at(clock.now() - 70 * HOUR_MS)}`,
    `?step=5m&since=${at(clock.now() - 9 * 24 * HOUR_MS)}&until=${at(clock.now() - 9 * 24 * HOUR_MS + 600_000)}`,
  ]) {
    const answer = await api.get(`/webhook-endpoints/series${query}`)
    expect(answer).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(answer.text).toContain('step')
  }
})
