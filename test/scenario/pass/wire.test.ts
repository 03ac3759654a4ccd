// An invoke on the wire (docs/wire-protocol.md#invoke).

import { createHash, createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  ENGINE_FEATURES,
  flow,
  type Invoke,
  openEngine,
  returned,
  run,
  scenario,
  stepId,
  unique,
  within,
} from '../../kit/index.ts'

const { engine } = await scenario({ realTime: true })

/** Starts one run of a one-step workflow. Returns its invokes. */
async function invokesOf(event: Record<string, unknown> = {}, on = engine, runnerId?: string): Promise<Invoke[]> {
  const name = unique('wire')
  const handler = flow([run('first', () => ({ sum: 3 }))])
  const options = { workflows: { [name]: handler } }
  const runner = await on.runner(runnerId === undefined ? options : { ...options, runner: runnerId })
  const { runId } = await on.api.send({ name, ...event })
  await on.api.succeeded(runId)
  return runner.record.of(runId)
}

/** The header `t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.rawBody">` (docs/wire-protocol.md#check-the-signature). */
function signatures(invoke: Invoke): { t: number; digests: string[] } {
  const header = invoke.headers['x-engine-signature'] as string
  expect(header).toMatch(/^t=\d+(,v1=[0-9a-f]{64})+$/)
  const [t, ...digests] = header.split(',').map(part => part.slice(part.indexOf('=') + 1))
  return { t: Number(t), digests }
}

/** The features in an invoke to a runner that named none. */
const OFFERED = ENGINE_FEATURES.filter(feature => feature !== 'end-with-steps')
const hmac = (key: string, t: number, raw: string) => createHmac('sha256', key).update(`${t}.${raw}`).digest('hex')

describe('the request', () => {
  test('is a JSON POST with the protocol, and its body has event, steps and ctx, and nothing else', async () => {
    const invokes = await invokesOf({ data: { n: 1 } })
    const [first, second] = invokes as [Invoke, Invoke]
    const { traceparent, runId, workflow, app } = first.ctx
    expect(JSON.parse(first.raw)).toEqual({
      event: { id: expect.stringMatching(/^evt_/), name: workflow, data: { n: 1 } },
      steps: {},
      ctx: { runId, workflow, attempt: 1, app, runner: '', features: OFFERED, traceparent },
    })
    expect(runId).toMatch(/^run_[0-9A-HJKMNP-TV-Z]{26}$/)
    expect(JSON.parse(second.raw).steps).toEqual({ [stepId('first')]: { data: { sum: 3 } } })
    for (const { method, path, headers, ctx } of invokes) {
      expect({ method, path }).toEqual({ method: 'POST', path: '/invoke' })
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'x-engine-protocol': '1',
        // Without a key.
        'x-engine-signature': 'v0',
      })
      expect(headers).not.toHaveProperty('traceparent')
      expect(ctx.traceparent).toMatch(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/)
    }
    const parts = invokes.map(({ ctx }) => ctx.traceparent?.split('-') as string[])
    expect(new Set(parts.map(([, trace]) => trace)).size).toBe(1)
    expect(new Set(parts.map(([, , span]) => span)).size).toBe(2)
  })

  test('ctx.runner is the pin of the run', async () => {
    const pinned = await invokesOf({ runner: 'the-pin' }, engine, 'the-pin')
    expect(pinned.map(({ ctx }) => ctx.runner)).toEqual(['the-pin', 'the-pin'])
  })

  test('event.name may differ from the workflow', async () => {
    const [workflow, name] = [unique('workflow'), unique('event')]
    const definition = { handler: () => returned(), registration: { triggers: [{ event: name }] } }
    const runner = await engine.runner({ workflows: { [workflow]: definition } })
    const { runId } = await engine.api.send({ name })
    await engine.api.succeeded(runId)
    expect(runner.record.of(runId)[0]).toMatchObject({ event: { name }, ctx: { workflow } })
  })
})

test('X-Engine-Signature is an HMAC-SHA256 over time and raw body, one for each key while a key is being rotated', async () => {
  const [newer, older] = ['n'.repeat(40), 'o'.repeat(40)]
  const rotating = await openEngine({ env: { ENGINE_SIGNING_KEY: `${newer},${older}` } })
  const invokes = await invokesOf({ data: { text: 'naïve ☃', n: 1 } }, rotating)
  expect(invokes).toHaveLength(2)
  for (const invoke of invokes) {
    const { t, digests } = signatures(invoke)
    expect(Math.abs(t - Date.now() / 1000)).toBeLessThan(60)
    expect(digests).toEqual([newer, older].map(key => hmac(key, t, invoke.raw)))
  }
})

describe('a runner that registered the feature `signature-v2`', () => {
  const key = 'k'.repeat(40)

  async function signatureOf(registration: Record<string, unknown>) {
    const signed = await openEngine({ env: { ENGINE_SIGNING_KEY: key } })
    const name = unique('wire')
    const runner = await signed.runner({ workflows: { [name]: flow([]) } })
    const { json } = await runner.register(signed.api, registration)
    expect(json).toMatchObject({ features: ENGINE_FEATURES })
    const { runId } = await signed.api.send({ name })
    await signed.api.succeeded(runId)
    const [invoke] = runner.record.of(runId) as [Invoke]
    return { header: invoke.headers['x-engine-signature'] as string, invoke, app: runner.app }
  }

  test('gets a signature over purpose, recipient and body, and no other', async () => {
    const { header, invoke, app } = await signatureOf({ features: ['later', 'signature-v2'] })
    const [, t, r, digest] = /^t=(\d+),r=([0-9a-f]{64}),v2=([0-9a-f]{64})$/.exec(header) ?? []
    expect(r).toBe(createHash('sha256').update(`${app}\n${invoke.receivedBy}`).digest('hex'))
    expect(digest).toBe(createHmac('sha256', key).update(`v2.invoke.${t}.${r}.${invoke.raw}`).digest('hex'))
  })

  test('is signed v1 again once it registers without it, as an earlier version does', async () => {
    const { header } = await signatureOf({ features: ['later'] })
    expect(header).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/)
  })
})

describe('redirects and answers in parts', () => {
  test('an answer may come in pieces', async () => {
    const name = unique('pieces')
    const runner = await engine.runner({
      workflows: {
        [name]: () => (_request, response) => {
          response.writeHead(200, { 'content-type': 'application/json' })
          response.write('{"data":"whole', () => response.end(' answer","logs":[]}'))
        },
      },
    })
    const { runId } = await engine.api.send({ name })
    const { result } = await within(engine.api.succeeded(runId), 'the result')
    expect(result).toBe('whole answer')
    expect(runner.record.passes(runId)).toBe(1)
  })
})
