// Registrations over real HTTP: their content, their repetition, and reported failures.

import { readFile } from 'node:fs/promises'
import type { PerdureError } from '@perdure/client'
import { keyFingerprint, type RegisterRequest } from '@perdure/protocol'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type EngineServer, startEngine } from '../engine/engine-server.testkit.ts'
import { signal } from '../replay/engine.testkit.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { createHandler } from './handler.ts'
import {
  type Registration,
  type RegistrationOptions,
  SDK_NAME,
  SDK_VERSION,
  startRegistration,
} from './registration.ts'

const [KEY, NEW, OLD] = ['k'.repeat(32), 'n'.repeat(32), 'o'.repeat(32)] as const

const handler = createHandler({
  app: 'shop',
  workflows: [createWorkflow({ name: 'w', triggers: { cron: '* * * * *' } }, () => 1)],
  signingKey: KEY,
})
const serving = { url: 'http://runner:3000/invoke', framework: 'node' }
const reply = {
  ok: true,
  protocolVersion: 1,
  runnerId: 'r1',
  workflows: 1,
  heartbeatMs: 60_000,
  staleAfterMs: 90_000,
  keyMatches: true,
  warnings: [],
}
const accepted = (fields: object = {}) => ({ status: 200, body: { ...reply, ...fields } })
const refused = {
  status: 401,
  body: { error: { code: 'unauthorized', message: 'no such key', requestId: 'req_1' } },
}

let engine: EngineServer
let registration: Registration
const logged: string[] = []
let onLogged: () => void = () => undefined

/** Resolves when this many lines have been logged. */
function loggedLines(count: number): Promise<void> {
  return new Promise(resolve => {
    onLogged = () => logged.length >= count && resolve()
    onLogged()
  })
}

function start(options: RegistrationOptions = {}, of = handler): Registration {
  logged.length = 0
  registration = startRegistration(of, serving, {
    engineUrl: engine.url,
    retryInitialMs: 1,
    log: (level, message) => {
      logged.push(`${level} ${message.replaceAll(engine.url, 'ENGINE')}`)
      onLogged()
    },
    ...options,
  })
  return registration
}

afterEach(async () => {
  vi.unstubAllEnvs()
  registration.stop()
  await engine.close()
})

describe('a registration', () => {
  test('sends every field of a register request, with the key', async () => {
    engine = await startEngine(accepted())
    vi.stubEnv('ENGINE_API_KEY', 'rk_1')
    vi.stubEnv('ENGINE_REGION', 'eu')
    expect(await start({ runner: 'r1' }).ready).toEqual(reply)
    expect(engine.calls).toMatchObject([
      { method: 'POST', path: '/register', headers: { authorization: 'Bearer rk_1' } },
    ])
    expect(engine.calls[0]?.body).toEqual({
      app: 'shop',
      runner: 'r1',
      instance: expect.any(String),
      url: 'http://runner:3000/invoke',
      runtime: 'node',
      language: 'typescript',
      framework: 'node',
      sdkName: SDK_NAME,
      version: SDK_VERSION,
      region: 'eu',
      keyFingerprint: keyFingerprint(KEY),
      protocolVersion: 1,
      features: [
        'signature-v2',
        'end-with-steps',
        'step-policy',
        'memo-op',
        'memo-attempt',
        'invoke-timeout',
        'attributes',
        'wait-order',
        'another-pass',
        'callbacks',
        'continue-as',
        'cleanup',
        'wait-for-run',
        'start-run',
        'budgets',
        'signals',
        'batch-events',
        'step-limits',
        'streams',
        'marked-answers',
        'http-checkpoints',
      ],
      workflows: [{ name: 'w', triggers: [{ cron: '* * * * *' }] }],
    })
    expect(logged).toEqual(['info Registered with ENGINE as r1: 1 workflows'])
  })

  test('has the name and version of the package', async () => {
    const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
    expect({ name: SDK_NAME, version: SDK_VERSION }).toEqual({
      name: manifest.name,
      version: manifest.version,
    })
  })

  test('says so where the platform stops the process between requests', async () => {
    engine = await startEngine(accepted())
    vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'shop')
    await start().ready
    expect(engine.calls[0]?.body).toMatchObject({ sleeps: true })
  })

  test.each([
    ['', undefined, true],
    ['', false, false],
    ['shop', undefined, false],
    ['shop', true, true],
  ])(
    'names checkpoints over HTTP where the process goes on (platform "%s", option %s): %s',
    async (platform, checkpoints, names) => {
      engine = await startEngine(accepted())
      vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', platform)
      await start(checkpoints === undefined ? {} : { checkpoints }).ready
      const { features } = (engine.calls[0] as { body: unknown }).body as { features: string[] }
      expect(features.includes('http-checkpoints')).toBe(names)
    },
  )

  test('leaves out unset options', async () => {
    engine = await startEngine(accepted())
    await start().ready
    expect(engine.calls[0]?.body).not.toHaveProperty('runner')
    expect(engine.calls[0]?.body).not.toHaveProperty('region')
    expect(engine.calls[0]?.headers).not.toHaveProperty('authorization')
  })

  test("is repeated at the engine's interval, and logged once", async () => {
    engine = await startEngine(accepted({ heartbeatMs: 10 }))
    start()
    await engine.called(3)
    expect(logged).toHaveLength(1)
  })

  test('logs warnings', async () => {
    engine = await startEngine(accepted({ warnings: ['old SDK'] }))
    await start().ready
    expect(logged.slice(1)).toEqual(['warn old SDK'])
  })

  test('that leaves says so once, as the last thing it says', async () => {
    engine = await startEngine(accepted())
    const { ready, leave } = start({ runner: 'r1' })
    await ready
    await Promise.all([leave(), leave()])
    expect(engine.calls).toHaveLength(2)
    const [first, last] = engine.calls.map(({ body }) => body as RegisterRequest)
    expect(last).toEqual({ ...first, leaving: true })
    expect(first?.instance).toMatch(/^\w{10}$/)
  })

  test('that the engine never accepted leaves without a word', async () => {
    engine = await startEngine('hang')
    const { ready, leave } = start()
    await engine.called(1)
    await leave()
    await expect(ready).rejects.toThrow('The registration was stopped')
    expect(engine.calls).toHaveLength(1)
  })

  test('that leaves an engine which is gone does not reject', async () => {
    engine = await startEngine(accepted())
    const { ready, leave } = start()
    await ready
    await engine.close()
    await leave()
  })

  test('stops for good', async () => {
    engine = await startEngine('hang')
    const { ready, stop } = start()
    await engine.called(1)
    stop()
    await expect(ready).rejects.toThrow('The registration was stopped')
    expect(logged).toEqual([])
  })
})

describe('an engine that is away', () => {
  test('does not delay a runner that stops', async () => {
    engine = await startEngine('reset')
    const away = signal<PerdureError>()
    const { ready, stop } = start({ retryInitialMs: 60_000, onError: away.resolve })
    await away.promise
    stop()
    await expect(ready).rejects.toThrow('The registration was stopped')
    expect(engine.calls).toHaveLength(1)
  })

  test('is retried until it is back, with one line for each change', async () => {
    const busy = { status: 503, body: {} }
    engine = await startEngine(
      'reset',
      busy,
      'reset',
      { status: 429, body: {} },
      accepted({ heartbeatMs: 10 }),
      busy,
      accepted(),
    )
    const errors: PerdureError[] = []
    await start({ onError: error => errors.push(error) }).ready
    await engine.called(7)
    await loggedLines(4)
    expect(logged).toEqual([
      expect.stringMatching(/^warn ENGINE does not accept the registration, retrying: cannot reach the engine: /),
      'info Registered with ENGINE as r1: 1 workflows',
      expect.stringMatching(/^warn ENGINE does not accept the registration, retrying/),
      'info Registered with ENGINE as r1: 1 workflows',
    ])
    expect(errors.map(({ code }) => code)).toEqual(['unreachable', 'http_503'])
  })
})

describe('an engine that refuses', () => {
  test('rejects ready with its reason, is reported once, and is retried', async () => {
    engine = await startEngine(refused, refused, accepted())
    const reported = signal<PerdureError>()
    const { ready } = start({ onError: reported.resolve })
    await expect(ready).rejects.toMatchObject({
      code: 'unauthorized',
      status: 401,
      message: 'no such key. Set ENGINE_API_KEY to a key of the engine, which `perdure keys create` makes',
    })
    expect(await reported.promise).toMatchObject({ code: 'unauthorized' })
    await engine.called(3)
    await loggedLines(2)
    expect(logged).toEqual([
      expect.stringContaining('error ENGINE refuses the registration: no such key. Set ENGINE_API_KEY'),
      'info Registered with ENGINE as r1: 1 workflows',
    ])
  })

  test('does not end the process when nobody awaits ready', async () => {
    engine = await startEngine(refused)
    start()
    await engine.called(2)
  })
})

describe('an engine whose signatures the runner would refuse', () => {
  test.each([
    ['another key', { keyMatches: false }, 'The engine and this runner have different signing keys'],
    ['no key', { keyMatches: undefined }, 'The engine has no signing key, and this runner has one'],
  ])('for it has %s is refused, logged once, and tried on', async (_, fields, why) => {
    engine = await startEngine(accepted(fields), accepted(fields), accepted())
    const reported = signal<PerdureError>()
    const { ready } = start({ onError: reported.resolve })
    const message = `${why} (ENGINE_SIGNING_KEY on both sides): every invoke would be refused`
    await expect(ready).rejects.toMatchObject({ code: 'untrusted_engine', status: 0, message })
    expect(await reported.promise).toMatchObject({ code: 'untrusted_engine' })
    await engine.called(3)
    await loggedLines(2)
    expect(logged).toEqual([
      `error This runner refuses ENGINE: ${message}`,
      'info Registered with ENGINE as r1: 1 workflows',
    ])
  })

  test('does not exist for a runner without a key', async () => {
    engine = await startEngine(accepted({ keyMatches: undefined }))
    await start({}, createHandler({ app: 'shop', workflows: [], signingKey: [], allowUnsigned: true })).ready
    expect(engine.calls[0]?.body).not.toHaveProperty('keyFingerprint')
  })

  test('does not exist during a rotation: the runner registers with the common key', async () => {
    const other = accepted({ keyMatches: false })
    engine = await startEngine(other, accepted({ heartbeatMs: 10 }), accepted({ heartbeatMs: 10 }), other)
    await start({}, createHandler({ app: 'shop', workflows: [], signingKey: [NEW, OLD] })).ready
    await engine.called(5)
    const [first, second] = [keyFingerprint(NEW), keyFingerprint(OLD)]
    const given = engine.calls.map(({ body }) => (body as RegisterRequest).keyFingerprint)
    expect(given.slice(0, 5)).toEqual([first, second, second, second, first])
    await loggedLines(2)
    expect(logged[0]).toBe('info Registered with ENGINE as r1: 1 workflows')
  })
})

test('an invalid address is refused at once', async () => {
  engine = await startEngine(accepted())
  expect(() => startRegistration(handler, serving, { engineUrl: 'nowhere' })).toThrow('is not an http or https URL')
})
