// The engine's proof of itself over Connect: for the host that the runner dialled, and as earlier engines give it.

import { recipientOf, signBody, signFor } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { until } from '../../../../test/kit/until.ts'
import { open, start } from './runner.testkit.ts'

const [KEY, OTHER] = ['k'.repeat(32), 'o'.repeat(32)] as const
const FEATURES = ['signature-v2']
const v1 = (body: string) => signBody({ keys: [KEY], body, nowMs: Date.now() })
const v2 = (body: string, host: string, purpose: 'connect' | 'invoke' = 'connect') =>
  signFor({ keys: [KEY], purpose, recipient: recipientOf(host), body, nowMs: Date.now() })

describe('a runner with a key', () => {
  test('trusts an engine that signs with one of its keys for the host it dialled', async () => {
    const engine = await open({ proof: v2, features: FEATURES })
    await start(engine, { signingKey: `${OTHER},${KEY}` }).ready
    expect(engine.last.headers['x-engine-host']).toBe(new URL(engine.url).host)
  })

  test('trusts an engine of an earlier version, which signs only the nonce', async () => {
    await start(await open({ proof: v1 }), { signingKey: KEY }).ready
  })

  test.each<[string, (nonce: string, host: string) => string]>([
    ['for another host', nonce => v2(nonce, 'evil.example')],
    ['for another purpose', (nonce, host) => v2(nonce, host, 'invoke')],
    ['another nonce', (nonce, host) => v2(`${nonce}x`, host)],
    ['with another key', body => signBody({ keys: [OTHER], body, nowMs: Date.now() })],
  ])('sends nothing to an engine that signs %s', async (_, proof) => {
    const engine = await open({ proof, features: FEATURES })
    const { ready, logged } = start(engine, { signingKey: KEY })
    await expect(ready).rejects.toMatchObject({ code: 'untrusted_engine' })
    // It tries again, and says so once.
    await until(() => engine.connections.length > 1)
    expect(engine.connections.flatMap(({ frames }) => frames)).toEqual([])
    expect(logged).toEqual([expect.stringContaining('did not sign its answer')])
  })

  test('does not register with an engine that could sign for the host, and did not', async () => {
    const engine = await open({ proof: v1, features: FEATURES })
    await expect(start(engine, { signingKey: KEY }).ready).rejects.toMatchObject({
      code: 'untrusted_engine',
      message: expect.stringContaining('x-engine-host'),
    })
    expect(engine.connections.flatMap(connection => connection.of('runner.register'))).toEqual([])
  })

  test('reports why an engine that signs nothing refuses it, and sends nothing', async () => {
    const refusal = { code: 'unauthorized', message: 'the API key is not valid' }
    const engine = await open({ proof: () => undefined, refusal })
    await expect(start(engine, { signingKey: KEY }).ready).rejects.toMatchObject({
      code: refusal.code,
      message: expect.stringContaining(refusal.message),
    })
    expect(engine.connections.flatMap(({ frames }) => frames)).toEqual([])
  })

  test('obeys nothing of an engine that signs nothing and does not close either', async () => {
    const engine = await open({ proof: () => undefined })
    const { ready, started } = start(engine, { signingKey: KEY })
    const failed = expect(ready).rejects.toMatchObject({ code: 'untrusted_engine' })
    await expect.poll(() => engine.connections.length).toBe(1)
    engine.last.invoke('i1', 'held')
    await failed
    expect([started, engine.connections.flatMap(({ frames }) => frames)]).toEqual([[], []])
  })
})
