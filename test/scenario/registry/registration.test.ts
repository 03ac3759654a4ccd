// The registration of runners: `POST /register` (docs/wire-protocol.md#register).

import { describe, expect, test } from 'vitest'
import { ENGINE_FEATURES, type OpenEngine, openEngine, returned, scenario, unique } from '../../kit/index.ts'

const { api, engine } = await scenario({ realTime: true })

const minimal = (extra: Record<string, unknown> = {}) => ({
  app: unique('app'),
  url: 'http://127.0.0.1:9/invoke',
  workflows: [{ name: unique('workflow') }],
  ...extra,
})

describe('the answer', () => {
  test('a minimal request is keyed by its url', async () => {
    const answer = await api.post('/register', minimal())
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({
      ok: true,
      protocolVersion: 1,
      features: ENGINE_FEATURES,
      runnerId: 'http://127.0.0.1:9/invoke',
      workflows: 1,
      heartbeatMs: 30_000,
      staleAfterMs: 90_000,
      warnings: [],
    })
  })

  test('names unknown fields in its warnings', async () => {
    const workflows = [{ name: 'w', concurency: { limit: 1 }, retry: { maxAttempt: 3 } }]
    const answer = await api.post('/register', minimal({ Runner: 'blue-1', workflows }))
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({
      warnings: [
        '"Runner" is not known here; did you mean "runner"?',
        'workflow "w": "concurency" is not known here; did you mean "concurrency"?',
        'workflow "w": "retry.maxAttempt" is not known here; did you mean "maxAttempts"?',
      ],
    })
  })
})

describe('lists', () => {
  test('of limits and cancels may be empty', async () => {
    const app = unique('app')
    const workflows = [{ name: 'w', concurrency: [], cancelOn: [] }]
    expect((await api.post('/register', minimal({ app, workflows }))).json).toMatchObject({ warnings: [] })
    const [listed] = (await api.get(`/workflows?app=${app}`)).json as object[]
    expect(listed).not.toHaveProperty('flowControl')
  })

  test('of triggers may be empty, too: only omitted triggers are implicit, and the answer says so', async () => {
    const name = unique('child')
    const answer = await api.post('/register', minimal({ workflows: [{ name, triggers: [] }] }))
    expect(answer.json).toMatchObject({ warnings: [expect.stringContaining(`workflow "${name}": triggers`)] })
    expect((await api.send({ name })).triggered).toEqual([])
  })

  test('of cancels have no wildcards, and the answer says so', async () => {
    const workflows = [{ name: unique('w'), cancelOn: [{ event: 'x/*' }] }]
    const answer = await api.post('/register', minimal({ workflows }))
    expect(answer.json).toMatchObject({ warnings: [expect.stringContaining('cancelOn[0].event')] })
  })
})

describe('validation', () => {
  const long = (length: number) => 'x'.repeat(length)
  test.each([
    ['no app', { app: undefined }, 'app'],
    ['an app of 129 characters', { app: long(129) }, 'app'],
    ['an app that is no string', { app: 7 }, 'app'],
    ['no url', { url: undefined }, 'url'],
    ['a url of another scheme', { url: 'ftp://127.0.0.1/' }, 'url'],
    ['a url that is none', { url: 'somewhere' }, 'url'],
    ['a blank runner', { runner: ' ' }, 'runner'],
    ['no workflows', { workflows: undefined }, 'workflows'],
    ['a workflow without a name', { workflows: [{ triggers: [] }] }, 'workflows[0].name'],
    ['a workflow with a blank name', { workflows: [{ name: ' ' }] }, 'workflows[0].name'],
    ['no attempts at all', { workflows: [{ name: 'w', retry: { maxAttempts: 0 } }] }, 'workflows[0].retry.maxAttempts'],
    [
      'an unreadable duration',
      { workflows: [{ name: 'w', timeouts: { invoke: 'soon' } }] },
      'workflows[0].timeouts.invoke',
    ],
    ['a control character', { app: 'a\u0007' }, 'app'],
  ])('%s is 400 and names the field', async (_what, change, field) => {
    const answer = await api.post('/register', minimal(change))
    expect(answer.status).toBe(400)
    expect(answer.json).toMatchObject({ error: { code: 'invalid_request', details: { field } } })
  })

  test('a refused registration leaves nothing behind', async () => {
    const app = unique('refused')
    await api.post('/register', minimal({ app, workflows: [{ name: 'fine' }, { name: ' ' }] }))
    expect((await api.get('/apps')).text).not.toContain(app)
    expect((await api.get(`/runners?app=${app}`)).json).toEqual([])
  })
})

describe('protocol version', () => {
  test.each([
    [undefined, 200],
    [1, 200],
    [0, 400],
    [2, 400],
    [1.5, 400],
  ])('protocolVersion %s is answered %i', async (protocolVersion, status) => {
    const answer = await api.post('/register', minimal({ protocolVersion }))
    expect(answer.status).toBe(status)
    if (status === 400) expect(answer.code).toBe('protocol_mismatch')
  })
})

describe('repetition and replacement', () => {
  const triggered = async (name: string) =>
    (await api.send({ name })).triggered.map(({ workflow, app }) => `${app}/${workflow}`)

  test("one registration replaces the runner's earlier one: a workflow that it no longer names is not triggered", async () => {
    const [first, second] = [unique('first'), unique('second')]
    const runner = await engine.runner({ workflows: { [first]: () => returned() } })
    expect(await triggered(first)).toEqual([`${runner.app}/${first}`])
    await runner.register(api, { workflows: [{ name: second }] })
    expect(await triggered(first)).toEqual([])
    expect(await triggered(second)).toEqual([`${runner.app}/${second}`])
    expect(await names(runner.app)).toEqual([second])
  })

  test('a workflow that another runner of the app still serves stays', async () => {
    const [app, shared] = [unique('app'), unique('shared')]
    await engine.runner({ app, runner: 'one', workflows: { [shared]: () => returned() } })
    const two = await engine.runner({ app, runner: 'two', workflows: { [shared]: () => returned() } })
    await two.register(api, { workflows: [] })
    expect(await triggered(shared)).toEqual([`${app}/${shared}`])
  })

  test("a workflow's definition is the newest registered", async () => {
    const [app, event, other] = [unique('app'), unique('event'), unique('event')]
    const register = (runner: string, trigger: string) =>
      api.post('/register', minimal({ app, runner, workflows: [{ name: 'w', triggers: [{ event: trigger }] }] }))
    await register('one', event)
    await register('two', other)
    expect(await triggered(event)).toEqual([])
    expect(await triggered(other)).toEqual([`${app}/w`])
  })

  async function names(app: string): Promise<string[]> {
    const workflows = (await api.get(`/workflows?app=${app}`)).json as { name: string }[]
    return workflows.map(({ name }) => name)
  }
})

describe('signing key (keyFingerprint = first 16 hex digits of SHA-256 of the key)', () => {
  const key = 'a-signing-key-of-sufficient-length'
  // printf %s "$key" | sha256sum | cut -c1-16
  const fingerprint = 'f93989b2a65beec3'

  test('keyMatches says whether both share the key, and is absent when either has none', async () => {
    const signed = await openEngine({ env: { ENGINE_SIGNING_KEY: key } })
    const answer = async (of: OpenEngine, keyFingerprint: string | undefined) =>
      (await of.api.post('/register', minimal({ keyFingerprint }))).json
    expect(await answer(signed, fingerprint)).toMatchObject({ keyMatches: true })
    expect(await answer(signed, 'ffffffffffffffff')).toMatchObject({ keyMatches: false })
    expect(await answer(signed, undefined)).not.toHaveProperty('keyMatches')
    expect(await answer(engine, fingerprint)).not.toHaveProperty('keyMatches')
  })
})

describe('the log', () => {
  const addresses = (app: string) =>
    engine.log.map(line => JSON.parse(line)).filter(line => line.app === app && line.msg.includes('new address'))

  test('warns once of an address that no runner of the app had', async () => {
    const app = unique('app')
    const register = (runner: string | undefined, url: string) => api.post('/register', minimal({ app, runner, url }))
    await register('blue', 'http://10.0.0.1:3000/invoke?secret=s3cret')
    await register('green', 'http://10.0.0.1:3000/other')
    await register('blue', 'http://10.0.0.2:3000/invoke?secret=s3cret')
    await register('blue', 'http://10.0.0.2:3000/invoke?secret=s3cret')
    await register(undefined, 'http://10.0.0.3/invoke?secret=s3cret')
    const about = { namespace: 'default', app }
    expect(addresses(app)).toEqual([
      expect.objectContaining({ ...about, level: 30, runner: 'blue', address: 'http://10.0.0.1:3000' }),
      expect.objectContaining({
        ...about,
        level: 40,
        runner: 'blue',
        address: 'http://10.0.0.2:3000',
        earlierAddress: 'http://10.0.0.1:3000',
      }),
      expect.objectContaining({ ...about, level: 40, runner: 'http://10.0.0.3', address: 'http://10.0.0.3' }),
    ])
    expect(engine.log.join('\n')).not.toContain('s3cret')
  })
})

test.each([
  ['a bad cron', { triggers: [{ event: 'e' }, { cron: 'x' }] }, 'triggers[1].cron'],
  ['a trigger of nothing', { triggers: [{}] }, 'triggers[0]'],
  ['an expression that does not compile', { priority: 'event.' }, 'priority'],
  ['a bad number', { retry: { maxAttempts: 0 } }, 'retry.maxAttempts'],
])('%s is refused with the name of its workflow, and its index in the details', async (_, fields, field) => {
  const [first, second] = [unique('first'), unique('second')]
  const answer = await api.post('/register', minimal({ workflows: [{ name: first }, { name: second, ...fields }] }))
  expect(answer.json).toMatchObject({
    error: {
      message: expect.stringContaining(`workflow "${second}": ${field} `),
      details: { field: `workflows[1].${field}` },
    },
  })
})
