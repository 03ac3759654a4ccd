// Posts that receivers refuse: forged, stale, or to an unknown slug (docs/webhooks.md#receive-webhooks).

import type { WebhookRefusal } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { type Scheme, scenario, signedHeaders, unique } from '../../kit/index.ts'
import { INBOUND_KEYS, Inbound } from '../../kit/webhook/inbound.ts'

const { clock, engine } = await scenario({ env: { ENGINE_API_KEYS: INBOUND_KEYS } })
const { api, post, receiver, eventsNamed } = new Inbound(engine.api, clock)

describe('a post that does not verify', () => {
  test('is 401 and no event: no signature, a wrong one, another body, another secret', async () => {
    for (const scheme of ['standard-webhooks', 'github', 'stripe', 'slack', 'hmac-sha256'] as const) {
      const name = unique('forged')
      const hook = await receiver({ eventName: name, scheme })
      const other = await receiver({ scheme })
      const signed = signedHeaders({ scheme, secret: hook.secret, body: '{"n":1}', at: clock.now(), id: 'm' })
      const send = (body: string, headers: Record<string, string>) =>
        api.request('POST', `/webhooks/${hook.slug}`, { body, headers })
      const answers = [
        await send('{"n":1}', {}),
        await send('{"n":2}', signed),
        await send('{"n":1} ', signed),
        await post(hook, '{"n":1}', { secret: other.secret }),
        await post(hook, '{"n":1}', { scheme: scheme === 'github' ? 'slack' : 'github' }),
      ]
      for (const answer of answers) expect(answer, scheme).toMatchObject({ status: 401, code: 'unauthorized' })
      expect(await eventsNamed(name)).toEqual([])
      expect((await send('{"n":1}', signed)).status).toBe(202)
    }
  })

  test.each<Scheme>(['standard-webhooks', 'stripe', 'slack'])(
    'is 401 when %s signed it more than 300 s ago, or ahead',
    async scheme => {
      const hook = await receiver({ scheme })
      const second = Math.floor(clock.now() / 1000) * 1000
      clock.jumpTo(second + 1000)
      const statusAt = async (offsetMs: number) => (await post(hook, '{}', { at: clock.now() + offsetMs })).status
      const statuses = []
      for (const offset of [-300_000, 300_000, -301_000, 301_000]) statuses.push(await statusAt(offset))
      expect(statuses).toEqual([202, 202, 401, 401])
    },
  )

  test('is 404 for an unknown, a disabled and a deleted slug: one answer, signed or not', async () => {
    const [disabled, deleted] = [await receiver(), await receiver()]
    const patch = {
      method: 'PATCH',
      body: '{"enabled":false}',
      headers: { 'content-type': 'application/json' },
    }
    await api.request(patch.method, `/webhook-receivers/${disabled.id}`, patch)
    await api.request('DELETE', `/webhook-receivers/${deleted.id}`)
    const slugs = [disabled.slug, deleted.slug, 'nobody', 'x'.repeat(64), 'UPPER', '%00', '__proto__', 'constructor']
    const answers = []
    for (const slug of slugs) {
      answers.push(await post({ ...disabled, slug }, '{}'))
      answers.push(await api.request('POST', `/webhooks/${slug}`, { body: '{}' }))
    }
    const bodies = answers.map(({ status, text }) => `${status} ${text.replace(/req_\w+/, 'req')}`)
    expect(new Set(bodies)).toEqual(
      new Set(['404 {"error":{"code":"not_found","message":"no such webhook receiver","requestId":"req"}}']),
    )
  })
})

describe('GET /webhook-receivers/{id}/refusals', () => {
  const refusals = async ({ id }: { id: string }) => {
    const answer = await api.get(`/webhook-receivers/${id}/refusals`)
    expect(answer.status, answer.text).toBe(200)
    return answer.json as WebhookRefusal[]
  }
  const send = ({ slug }: { slug: string }, body: string, headers: Record<string, string> = {}) =>
    api.request('POST', `/webhooks/${slug}`, { body, headers })
  const causes = (list: WebhookRefusal[]) => list.map(({ at: _, address: __, sizeBytes, ...cause }) => cause)

  test('says why each post was refused, newest first, and nothing of what was in it', async () => {
    const hook = await receiver()
    const other = await receiver()
    clock.jumpTo(Math.ceil(clock.now() / 1000) * 1000)
    const now = clock.now()
    await send(hook, '{"card":"4711"}')
    await post(hook, '{"n":1}', { scheme: 'github' })
    await post(hook, '{"n":1}', { secret: other.secret })
    await post(hook, '{"n":1}', { secret: other.secret, at: now - 900_000 })
    await post(hook, '{"n":1}', { at: now - 412_000 })
    await post(hook, '{"n":1}', { at: now + 400_000 })
    await post(hook, '{"n":1}', { headers: { 'webhook-timestamp': 'soon' } })
    await post(hook, new Uint8Array([0xff, 0xfe]))
    await send(hook, 'x'.repeat(1024 * 1024 + 1))
    await send(hook, '{}', { 'content-encoding': 'gzip' })
    expect((await post(hook, '{"n":1}')).status).toBe(202)
    const found = await refusals(hook)
    expect(causes(found).reverse()).toEqual([
      { reason: 'unsigned' },
      { reason: 'other_scheme', signedAs: 'github' },
      { reason: 'wrong_signature' },
      { reason: 'wrong_signature' },
      { reason: 'stale', offSeconds: 412 },
      { reason: 'stale', offSeconds: -400 },
      { reason: 'unsigned' },
      { reason: 'invalid_body' },
      { reason: 'too_large' },
      { reason: 'encoded' },
    ])
    expect(found.at(-1)).toEqual({
      at: new Date(now).toISOString(),
      reason: 'unsigned',
      sizeBytes: 15,
      address: '127.0.0.1',
    })
    expect(found[1]?.sizeBytes).toBe(1024 * 1024 + 1)
    expect(JSON.stringify(found)).not.toContain('4711')
    expect(await refusals(other)).toEqual([])
  })

  test('keeps the last 20, those to a disabled receiver too', async () => {
    const hook = await receiver()
    await send(hook, '')
    const [patch, headers] = ['{"enabled":false}', { 'content-type': 'application/json' }]
    await api.request('PATCH', `/webhook-receivers/${hook.id}`, { body: patch, headers })
    for (let i = 0; i < 20; i++) expect((await post(hook, '{}')).status).toBe(404)
    expect(causes(await refusals(hook))).toEqual(Array.from({ length: 20 }, () => ({ reason: 'disabled' })))
  })
})
