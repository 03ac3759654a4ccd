// `createHandler()`: requests that it refuses, and its description of itself.

import { keyFingerprint, signBody } from '@perdure/protocol'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { signal } from '../replay/engine.testkit.ts'
import { Cancellation } from '../run/cancellation.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { createHandler, type HandlerOptions, type HeaderSource } from './handler.ts'

const [SECRET, OTHER] = ['s'.repeat(32), 'o'.repeat(32)] as const
const workflows = [createWorkflow({ name: 'hello' }, async ({ event }) => event.data)]
const body = JSON.stringify({
  event: { name: 'hello', data: { text: 'höllo' } },
  steps: {},
  ctx: { runId: 'run_1', workflow: 'hello', attempt: 1, app: 'shop', runner: '' },
})

const json = { 'content-type': 'application/json' }

function withJson(headers: HeaderSource = {}): HeaderSource {
  if (!(headers instanceof Headers)) return { ...json, ...headers }
  headers.set('content-type', 'application/json')
  return headers
}

async function send(
  request: { headers?: HeaderSource; rawBody?: string | Uint8Array },
  options: Partial<HandlerOptions> = {},
) {
  const handler = createHandler({ app: 'shop', workflows, signingKey: [], ...options })
  const headers = withJson(request.headers)
  const response = await handler.handle({ headers, rawBody: request.rawBody ?? body })
  return { ...JSON.parse(response.body), status: response.status, headers: response.headers }
}

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('a request', () => {
  const answer = {
    status: 200,
    headers: { 'content-type': 'application/json', 'x-perdure-runner': '1' },
    data: { text: 'höllo' },
    logs: [],
  }

  test('is answered from text and from bytes', async () => {
    expect(await send({})).toEqual(answer)
    expect(await send({ rawBody: Buffer.from(body) })).toEqual(answer)
    expect(await send({ rawBody: new TextEncoder().encode(`  ${body}`).subarray(2) })).toEqual(answer)
  })

  test('may have unknown fields, and lack the optional ones', async () => {
    const { event, ctx } = JSON.parse(body)
    expect(await send({ rawBody: JSON.stringify({ event, ctx, later: true }) })).toEqual(answer)
  })

  test.each([
    ['no JSON', '{"event":', 'The body of the request is not JSON'],
    ['an empty body', '', 'The body of the request is not JSON'],
    ['no object', '[]', 'The body of the request is not an invoke'],
    ['no ctx', '{"event":{"name":"x"},"steps":{}}', 'The body of the request is not an invoke'],
    ['no event', '{"steps":{},"ctx":{"workflow":"hello","runId":"r"}}', 'The body of the request is not an invoke'],
    [
      'steps of another shape',
      '{"event":{},"steps":[],"ctx":{"workflow":"hello","runId":"r"}}',
      'The body of the request is not an invoke',
    ],
  ])('with %s is a 400', async (_, rawBody, message) => {
    expect(await send({ rawBody })).toMatchObject({ status: 400, error: { message }, logs: [] })
  })

  test('for an unknown workflow is a 404', async () => {
    const rawBody = body.replace('"workflow":"hello"', '"workflow":"constructor"')
    expect(await send({ rawBody })).toMatchObject({
      status: 404,
      error: { message: 'This runner has no workflow "constructor"' },
    })
  })

  test('beyond 64 MiB is a 413', async () => {
    expect(await send({ rawBody: new Uint8Array(64 * 1024 * 1024 + 1) })).toMatchObject({ status: 413 })
  })
})

test('a refusal has no stack; the error of a handler has one', async () => {
  const refused = await Promise.all([
    send({ rawBody: 'x' }),
    send({ rawBody: '[]' }),
    send({ rawBody: body.replace('"workflow":"hello"', '"workflow":"other"') }),
    send({ headers: { 'x-engine-protocol': '2' } }),
    send({}, { signingKey: SECRET }),
    send({ rawBody: body.replace('"attempt":1', '"onFailure":true') }),
  ])
  expect(refused.map(({ status }) => status)).toEqual([400, 400, 404, 400, 401, 400])
  for (const { error, status } of refused) {
    const code = status === 401 ? { code: 'engine_refused' } : {}
    expect(error).toEqual({ message: expect.any(String), name: 'Error', ...code })
  }
  const throwing = createWorkflow({ name: 'hello' }, () => {
    throw new Error('broken')
  })
  const { error } = await send({}, { workflows: [throwing] })
  expect(error).toMatchObject({ message: 'broken', stack: expect.stringContaining('handler.test.ts') })
})

describe('the wire version', () => {
  test.each([
    [{ 'x-engine-protocol': '1' }, 200],
    [new Headers({ 'X-Engine-Protocol': '1' }), 200],
    [{}, 200],
    [{ 'x-engine-protocol': '0' }, 400],
    [{ 'x-engine-protocol': '2' }, 400],
    [{ 'x-engine-protocol': '' }, 400],
    [new Headers({ 'X-Engine-Protocol': 'one' }), 400],
  ])('%o is answered %i', async (headers, status) => {
    expect(await send({ headers })).toMatchObject({ status })
  })
})

describe('the signature', () => {
  const signed = (keys: string[], nowMs = Date.now(), text = body) => ({
    'x-engine-signature': signBody({ keys, body: text, nowMs }),
  })
  const withKey = { signingKey: SECRET }

  test('of the right key is accepted, over text and over bytes', async () => {
    expect(await send({ headers: signed([SECRET]) }, withKey)).toMatchObject({ status: 200 })
    const headers = new Headers(signed([SECRET]))
    expect(await send({ headers, rawBody: Buffer.from(body) }, withKey)).toMatchObject({ status: 200 })
  })

  test.each([
    ['missing', {}, 'is not signed'],
    ['unsigned', { 'x-engine-signature': 'v0' }, 'is not signed'],
    ['of another key', signed([OTHER]), "none of this runner's keys"],
    ['over another body', signed([SECRET], Date.now(), `${body} `), 'was changed in transit'],
    ['too old', signed([SECRET], Date.now() - 302_000), 'The clocks differ'],
    ['from the future', signed([SECRET], Date.now() + 360_000), 'The clocks differ'],
    ['cut short', { 'x-engine-signature': signed([SECRET])['x-engine-signature'].slice(0, -2) }, 'none of this'],
  ])('that is %s is refused, and nothing runs', async (_, headers, why) => {
    let ran = false
    const spying = createWorkflow({ name: 'hello' }, () => {
      ran = true
    })
    expect(await send({ headers }, { ...withKey, workflows: [spying] })).toMatchObject({
      status: 401,
      error: { message: expect.stringContaining(why), code: 'engine_refused' },
    })
    expect(ran).toBe(false)
  })

  test('during a rotation either key is accepted, also from the environment', async () => {
    const [old, renewed] = [OTHER, SECRET]
    for (const list of [`${old},${renewed}`, `${old} ${renewed}`, ` ${old} , ${renewed} `]) {
      vi.stubEnv('ENGINE_SIGNING_KEY', list)
      const options = { signingKey: undefined } as unknown as HandlerOptions
      for (const key of [old, renewed]) expect((await send({ headers: signed([key]) }, options)).status).toBe(200)
      expect((await send({ headers: signed([`${old},${renewed}`]) }, options)).status).toBe(401)
    }
    expect((await send({ headers: signed([SECRET, 'c']) }, { signingKey: [OTHER, SECRET] })).status).toBe(200)
  })

  test('is ignored without a key', async () => {
    expect(await send({ headers: { 'x-engine-signature': 't=1,v1=00' } })).toMatchObject({ status: 200 })
  })
})

describe('a handler', () => {
  test('has its workflows and the fingerprints of its keys', () => {
    const handler = createHandler({ app: 'shop', workflows, signingKey: `${SECRET},${OTHER}` })
    expect(handler).toMatchObject({
      app: 'shop',
      workflows: [{ name: 'hello' }],
      keyFingerprints: [keyFingerprint(SECRET), keyFingerprint(OTHER)],
    })
  })

  test('refuses an app without a name and two workflows with one name', () => {
    expect(() => createHandler({ app: ' ', workflows })).toThrow('A runner needs the name of its app')
    expect(() => createHandler({ app: 'shop', workflows: [...workflows, ...workflows] })).toThrow(
      'Two workflows are named "hello"',
    )
  })
})

describe('a list of workflows', () => {
  test.each<[string, unknown, string]>([
    [
      'an undefined import',
      [undefined],
      'workflows[0] is not a workflow: undefined; check that it is exported and that the files do not import each other in a circle',
    ],
    ['an object', [...workflows, { default: 1 }], 'workflows[1] is not a workflow: object'],
    [
      'a function',
      [async function charge() {}],
      "workflows[0] is not a workflow: a function; make it a workflow with createWorkflow({ name: 'my-workflow' }, charge)",
    ],
    [
      'a module',
      [{ default: workflows[0] }],
      'workflows[0] is not a workflow: an object with workflows, such as a module; name the workflow in it',
    ],
    [
      'a forgotten handler',
      [createWorkflow({ name: 'x' })],
      'workflows[0] is not a workflow: workflow "x" has no handler; pass it as the second argument, createWorkflow(options, handler)',
    ],
    ['no list', workflows[0], 'The workflows of a runner must be a list'],
    ['nothing', undefined, 'The workflows of a runner must be a list'],
  ])('with %s is refused', (_, given, message) => {
    const options = { app: 'shop', workflows: given } as unknown as HandlerOptions
    expect(() => createHandler(options)).toThrow(new TypeError(message))
  })
})

describe('a cancelled invoke', () => {
  test('ends at once, aborts its callbacks and starts no further step', async () => {
    const [started, aborted, resumed] = [signal(), signal<unknown>(), signal()]
    const cancellation = new Cancellation()
    let startedLate = false
    const workflow = createWorkflow({ name: 'hello' }, ({ step }) =>
      Promise.all([
        step.run('long', async ({ signal }) => {
          started.resolve()
          await new Promise(resolve => signal.addEventListener('abort', resolve))
          aborted.resolve(signal.reason)
        }),
        (async () => {
          await aborted.promise
          void step.run('late', () => {
            startedLate = true
          })
          resumed.resolve()
        })(),
      ]),
    )
    const handler = createHandler({ app: 'shop', workflows: [workflow], signingKey: [] })
    const response = handler.handle({ headers: json, rawBody: body, cancellation })
    await started.promise
    cancellation.cancel('gone')
    expect((await response).status).toBe(499)
    expect(await aborted.promise).toBe('gone')
    await resumed.promise
    expect(startedLate).toBe(false)
  })

  test('that is cancelled before it begins ends at once, and its signal is aborted', async () => {
    const cancellation = new Cancellation()
    cancellation.cancel('early')
    const handler = createHandler({ app: 'shop', workflows, signingKey: [] })
    expect((await handler.handle({ headers: json, rawBody: body, cancellation })).status).toBe(499)
    expect(cancellation.signal).toMatchObject({ aborted: true, reason: 'early' })
  })
})
