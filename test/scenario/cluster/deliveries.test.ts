// Two engines on one PostgreSQL database: a POST whose engine lets its lease run out still counts as an attempt.

import { expect, test } from 'vitest'
import { acts, freshSchema, gate, JumpClock, onCleanup, openDestination, openEngine } from '../../kit/index.ts'
import { API_KEYS, hastySender, SECRET_KEY, Webhooks } from '../../kit/webhook/webhooks.ts'

const LEASE_MS = 25_000

test('another engine appends the attempt of one that hangs, whose own result comes too late', async () => {
  const clock = new JumpClock()
  const storeFile = await freshSchema()
  const env = { ENGINE_API_KEYS: API_KEYS, ENGINE_WEBHOOK_SCHEDULE: '10s,20s' }
  const random = { next: () => 0.5 }
  const [posted, released] = [gate<void>(), gate<void>()]
  onCleanup(() => released.open())
  const hanging = {
    async send() {
      posted.open()
      await released.opened
      return { kind: 'answered' as const, status: 200, responseSnippet: 'too late', durationMs: 0 }
    },
    async close() {},
  }
  const one = await openEngine({ storeFile, clock, env, ports: { random, sender: hanging } })
  const destination = await openDestination(acts.status(204))
  const { id } = await new Webhooks(one.api.as(SECRET_KEY)).deliverOne(destination.url)
  await posted.opened

  const sender = hastySender(clock, 400)
  const two = await openEngine({ storeFile, clock, env, ports: { random, sender } })
  const webhooks = new Webhooks(two.api.as(SECRET_KEY))
  clock.jump(LEASE_MS - 1)
  expect(await webhooks.delivery(id)).toMatchObject({ status: 'delivering', attempts: [] })
  clock.jump(1)
  const cutOff = await webhooks.reaches(id, 'failed', 1)
  expect(cutOff.nextAttemptAt).toBe(new Date(clock.now() + 10_000).toISOString())
  expect(cutOff.attempts).toMatchObject([
    { attempt: 1, outcome: 'connection_error', error: 'the engine stopped during this attempt' },
  ])
  expect(destination.requests).toHaveLength(0)

  released.open()
  await one.stop()
  expect(await webhooks.delivery(id)).toEqual(cutOff)
  clock.jump(10_000)
  const { attempts } = await webhooks.reaches(id, 'succeeded', 2)
  expect(attempts.map(({ outcome }) => outcome)).toEqual(['connection_error', 'succeeded'])
})
