// `perdure webhooks` against the real engine: its output for people and for scripts, and the secrets that show only
// once.

import type { WebhookDelivery, WebhookEndpoint, WebhookReceiver } from '@perdure/protocol'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import {
  acts,
  type CliOptions,
  CommandHost,
  type Exit,
  gate,
  jsonLines,
  linesOf,
  openDestination,
  openEngine,
  perdure,
  postWebhook,
  scenario,
  signedHeaders,
  unique,
  until,
  within,
} from '../../kit/index.ts'
import { API_KEYS, READ_KEY, SECRET_KEY, Webhooks } from '../../kit/webhook/webhooks.ts'

const { engine } = await scenario({
  realTime: true,
  env: { ENGINE_API_KEYS: API_KEYS, ENGINE_WEBHOOK_ALLOW: '127.0.0.1' },
})
const api = engine.api.as(SECRET_KEY)
const webhooks = new Webhooks(api)
const own = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

const commands = new CommandHost()
const ENV = { ENGINE_URL: engine.url, ENGINE_API_KEY: SECRET_KEY }

/** Runs a command line of `perdure webhooks` on the engine; with options, in its own process. */
const cli = (args: readonly string[], options?: CliOptions): Promise<Exit> =>
  options === undefined
    ? commands.run(['webhooks', ...args], ENV)
    : perdure(['webhooks', ...args], { ...options, env: { ...ENV, ...options.env } })

const lines = <T>(...args: string[]): Promise<T[]> => linesOf<T>(cli, args)

/** The row of a table that begins with the id. */
const rowOf = (stdout: string, id: string) =>
  stdout
    .split('\n')
    .map(line => line.split(/ {2,}/))
    .find(([first]) => first === id)

test('endpoints: created, listed, changed, deleted; the secret shows when it is made', async () => {
  const url = 'https://alerts.example.com/hook'
  const [made, brought] = await Promise.all([
    lines<WebhookEndpoint & { secret: string }>(
      ...['endpoints', 'create', url, '--event-kinds', 'run.failed,step.failed', '--name', 'Alerts'],
    ),
    cli(['endpoints', 'create', url, '--event-kinds', 'run.succeeded', '--app', 'shop', '--secret', '-'], {
      stdin: `${own}\n`,
    }),
  ])
  const [{ id, secret, ...endpoint }] = made as [WebhookEndpoint & { secret: string }]
  expect(endpoint).toMatchObject({ name: 'Alerts', url, eventKinds: ['run.failed', 'step.failed'] })
  expect(secret).toMatch(/^whsec_.{44}$/)
  expect(brought).toMatchObject({ code: 0, stderr: '' })
  const [shown, blank, line, note] = brought.stdout.split('\n')
  expect([shown, blank]).toEqual([own, ''])
  expect(line).toMatch(/^whe_\w+ sends run\.succeeded of shop to https:\/\/alerts\.example\.com\/hook$/)
  expect(note).toMatch(/shown only once/)

  const [people, script, counted] = await Promise.all([
    cli(['endpoints', 'list']),
    lines<WebhookEndpoint>('endpoints', 'list'),
    cli(['endpoints', 'stats', '--since', '1d']),
  ])
  expect(rowOf(people.stdout, id)).toEqual([id, 'on', 'Alerts', '-', 'run.failed,step.failed', url])
  expect(script).toContainEqual({ id, ...endpoint })
  expect(rowOf(counted.stdout, id)).toEqual([id, '0', '0', '0', '-'])
  for (const { stdout } of [people, counted]) expect(stdout).not.toMatch(/whsec_/)

  const changes = ['--disable', '--no-name', '--app', 'shop', '--to', `${url}/new`, '--event-kinds', 'run.failed']
  const changed = await cli(['endpoints', 'update', id, ...changes])
  expect(changed).toMatchObject({
    code: 0,
    stdout: `${id} sends run.failed of shop to ${url}/new once it is enabled\n`,
  })
  const [rotated] = await lines<WebhookEndpoint & { secret: string }>(
    ...['endpoints', 'update', id, '--rotate-secret', '--enable', '--no-app'],
  )
  expect(rotated).toMatchObject({ id, enabled: true, secret: expect.stringMatching(/^whsec_/) })
  expect(rotated?.secret).not.toBe(secret)
  expect(rotated).not.toHaveProperty('name')
  expect(rotated).not.toHaveProperty('app')
  const [revoked] = await lines<WebhookEndpoint>('endpoints', 'update', id, '--revoke-old-secrets')
  expect(revoked).toMatchObject({ id, enabled: true })
  expect(revoked).not.toHaveProperty('secret')

  expect(await cli(['endpoints', 'delete', id])).toMatchObject({ code: 0, stdout: `${id} deleted\n` })
  const again = await cli(['endpoints', 'delete', id, '--json'])
  expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('(not_found, ') })
})

test('receivers: created, listed, changed, deleted; what the secret signs becomes an event', async () => {
  const [slug, eventName] = [unique('hook'), unique('payment')]
  const made = await cli(['receivers', 'create', eventName, '--slug', slug, '--app', 'shop'])
  const [secret = '', , line = ''] = made.stdout.split('\n')
  const id = line.split(' ')[0] as string
  expect(line).toBe(`${id} takes standard-webhooks posts at ${engine.url}/webhooks/${slug} as ${eventName}`)
  const post = { scheme: 'standard-webhooks', secret, body: '{"amount": 5}', at: Date.now() } as const
  expect((await postWebhook(api, slug, post)).status).toBe(202)

  const [people, script, given] = await Promise.all([
    cli(['receivers', 'list']),
    lines<WebhookReceiver>('receivers', 'list'),
    lines<{ secret: string }>(
      ...['receivers', 'create', 'x', '--scheme', 'stripe', '--secret', 'the-secret-of-the-provider'],
    ),
  ])
  const accepted = expect.stringMatching(/ago$|^now$/)
  const cells = [...[id, 'on', slug, eventName, 'standard-webhooks'], accepted, ...['-', 'shop', '-']]
  expect(rowOf(people.stdout, id)).toEqual(cells)
  expect(script).toContainEqual(expect.objectContaining({ id, slug, eventName }))
  expect(given).toEqual([expect.objectContaining({ scheme: 'stripe', secret: 'the-secret-of-the-provider' })])
  expect(people.stdout + JSON.stringify(script)).not.toContain(secret)

  const changes = ['--event-name', `${eventName}/2`, '--no-app', '--target-app', 'record', '--rotate-secret']
  const [changed] = await lines<WebhookReceiver & { secret: string }>('receivers', 'update', id, ...changes)
  expect(changed).toMatchObject({ id, eventName: `${eventName}/2`, targetApp: 'record' })
  expect(changed?.secret).toMatch(/^whsec_/)
  const [off, taken] = await Promise.all([
    cli(['receivers', 'update', id, '--disable']),
    cli(['receivers', 'create', 'x', '--slug', slug]),
  ])
  expect(off.stdout).toMatch(/ once it is enabled\n$/)
  expect(taken).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('(slug_taken, ') })
  expect(await lines('receivers', 'delete', id)).toEqual([{ id, deleted: true }])
})

test('deliveries: listed, read, and redelivered', async () => {
  const destination = await openDestination(acts.status(404), acts.status(200))
  const { app, id, runId, endpointId } = await webhooks.deliverOne(destination.url)
  await webhooks.reaches(id, 'dead', 1)
  const [people, script, none, read] = await Promise.all([
    cli(['deliveries', 'list', '--app', app]),
    lines<WebhookDelivery>('deliveries', 'list', '--app', app, '--status', 'dead', '--limit', '5'),
    cli(['deliveries', 'list', '--app', app, '--status', 'exhausted']),
    cli(['deliveries', 'get', id]),
  ])
  expect(rowOf(people.stdout, id)).toEqual([
    ...[id, 'dead', 'run.succeeded', app, '1 of 8', '404', expect.any(String), '-', destination.url],
  ])
  expect(script).toEqual([expect.objectContaining({ id, endpointId, status: 'dead' })])
  expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'nothing found\n' })
  for (const says of [endpointId, runId, destination.url, '1 of 8', '"type": "run.succeeded"']) {
    expect(read.stdout).toContain(says)
  }
  expect(rowOf(read.stdout, '1')).toEqual(['1', 'http_error', '404', expect.any(String), expect.any(String), 'noted'])

  const asReader = await cli(['redeliver', id], { env: { ENGINE_API_KEY: READ_KEY } })
  expect(asReader).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('(forbidden, ') })
  expect(await cli(['redeliver', id])).toMatchObject({ code: 0, stdout: `${id} queued\n`, stderr: '' })
  await webhooks.reaches(id, 'succeeded', 2)
  expect(await lines('redeliver', id)).toEqual([{ id, queued: true }])
  const delivered = await webhooks.reaches(id, 'succeeded', 3)
  expect(await lines('deliveries', 'get', id)).toEqual([delivered])
})

test('endpoints test and series, and deliveries redeliver', async () => {
  const destination = await openDestination(acts.status(200), acts.status(400))
  const { id: tried, app, endpointId } = await webhooks.deliverOne(destination.url)
  await webhooks.reaches(tried, 'succeeded', 1)
  const [tested] = (await lines('endpoints', 'test', endpointId)) as [WebhookDelivery]
  expect(tested).toMatchObject({ eventKind: 'test', status: 'dead', endpointId })
  const shown = await cli(['endpoints', 'test', endpointId])
  expect(shown.stdout).toMatch(/status +dead\n.*kind +test\n/)
  expect(shown.stdout).toMatch(/\n1 +http_error +400 /)
  const points = await lines<{ succeeded: number; failed: number }>('endpoints', 'series', '--endpoint', endpointId)
  expect(points.at(-1)).toMatchObject({ succeeded: 1, failed: 0 })
  const table = await cli(['endpoints', 'series', '--step', '1d', '--endpoint', endpointId])
  expect(table.stdout).toMatch(/^FROM +SUCCEEDED +FAILED +P50 +P95\n/)

  const matching = ['deliveries', 'redeliver', '--app', app, '--kind', 'run.succeeded']
  expect(await cli([...matching, '--dry-run'])).toMatchObject({ stdout: '1 of 1 would be queued, 0 skipped\n' })
  expect(await cli(matching)).toMatchObject({ code: 0, stdout: '1 of 1 queued, 0 skipped\n' })
  await webhooks.reaches(tried, 'dead', 2)
  expect(await cli(['deliveries', 'redeliver'])).toMatchObject({ code: 1, stderr: expect.stringContaining('filter') })
})

test('receivers refusals: why each post was refused', async () => {
  const [{ id, slug }] = (await lines('receivers', 'create', 'parcel/left')) as [WebhookReceiver]
  const at = Date.now() - 412_000
  const refused = { scheme: 'github', secret: 'no secret of it', body: '{}', at } as const
  expect((await postWebhook(engine.api, slug, refused)).status).toBe(401)
  expect(await lines('receivers', 'refusals', id)).toMatchObject([{ reason: 'other_scheme', signedAs: 'github' }])
  const { stdout } = await cli(['receivers', 'refusals', id])
  expect(stdout).toMatch(/^AT {2,}REASON {2,}BYTES {2,}FROM\n.+ {2,}other scheme: github {2,}2 {2,}127\.0\.0\.1\n$/)
})

/** Runs `perdure webhooks listen` on a free port: returns its URL, a function that interrupts it, and its exit. */
async function listen(args: readonly string[], options: CliOptions = {}) {
  const opened = gate<string>()
  let interrupt = () => {}
  const ended = cli(['listen', '--port', '0', ...args], {
    ...options,
    onError: (stderr, process) => {
      interrupt = () => process.interrupt()
      const url = /listens on (\S+)/.exec(stderr)?.[1]
      if (url !== undefined) opened.open(url)
    },
  })
  const url = await within(opened.opened, 'the address of the listener')
  return { url, ended, interrupt: () => interrupt() }
}

test('listen: verifies what the engine delivers, and forwards the exact bytes', async () => {
  const app = await openDestination(acts.status(418))
  const { url, ended } = await listen(['--secret', own, '--forward', app.url], {
    onOutput: (stdout, process) => stdout.includes('\n\n') && process.interrupt(),
  })
  const { id, runId } = await webhooks.deliverOne(url, { secret: own })
  const { code, stdout, stderr } = await ended
  expect(code).toBe(130)
  expect(stderr).toContain(`perdure webhooks endpoints create ${url} --event-kinds`)
  expect(stderr).toContain('ENGINE_WEBHOOK_ALLOW_PRIVATE=1')
  expect(stdout).toMatch(/^[\d:.]+ {2}verified {2}run\.succeeded {2}\/ {2}answered 418\n/)
  expect(stdout).toContain(`  webhook-id: ${id}\n`)
  expect(stdout).toContain(`"id": "${runId}"`)
  expect(stdout + stderr).not.toContain(own)
  const [{ body, headers } = { body: '', headers: {} }] = app.requests
  expect(new Webhook(own).verify(body, headers)).toMatchObject({ type: 'run.succeeded' })
  // The engine got the answer of the app.
  expect(await webhooks.reaches(id, 'dead', 1)).toMatchObject({ lastStatusCode: 418 })
})

test('listen: distinguishes verified, forged, old and unsigned posts', async () => {
  const { url, ended } = await listen(['--json', '--answer', '503'], {
    env: { WEBHOOK_SECRET: own },
    onOutput: (stdout, process) => stdout.split('\n').length > 5 && process.interrupt(),
  })
  const signed = (fields: { secret?: string; at?: number } = {}) =>
    signedHeaders({ scheme: 'standard-webhooks', secret: own, body: '{"n":1}', at: Date.now(), ...fields })
  const send = async (headers: Record<string, string>, body = '{"n":1}') =>
    (await fetch(`${url}/some/path`, { method: 'POST', headers, body })).status
  const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`

  expect((await fetch(url)).status).toBe(405)
  expect(await send({}, 'x'.repeat(1024 * 1024 + 1))).toBe(413)
  const statuses = [
    await send(signed()),
    await send(signed({ secret: other })),
    await send(signed({ at: Date.now() - 301_000 })),
    await send({ 'webhook-id': 'dlv_1', 'x-api-key': 'not to be shown' }),
    await send(signed(), 'no\u001b[2J JSON'),
  ]
  expect(statuses).toEqual([503, 503, 503, 503, 503])
  const { code, stdout } = await ended
  expect(code).toBe(130)
  expect(stdout).not.toContain('not to be shown')
  const posts = jsonLines<{ verdict: string; body: unknown }>(stdout)
  expect(posts.map(({ verdict }) => verdict)).toEqual([...['verified', 'mismatch', 'stale', 'unsigned', 'mismatch']])
  expect(posts[0]).toMatchObject({ path: '/some/path', body: { n: 1 }, answered: { status: 503 } })
  expect(posts[4]?.body).toBe('no\u001b[2J JSON')
})

test('listen: without a secret nothing is verified; a destination that is gone is a 502', async () => {
  const gone = await openEngine()
  await gone.stop()
  const { url, ended } = await listen(['--forward', gone.url], {
    onOutput: (stdout, process) => stdout.includes('\n\n') && process.interrupt(),
  })
  const headers = signedHeaders({ scheme: 'standard-webhooks', secret: own, body: '1', at: Date.now() })
  expect((await fetch(url, { method: 'POST', headers, body: '1' })).status).toBe(502)
  const { code, stdout, stderr } = await ended
  expect(code).toBe(130)
  expect(stderr).toContain('To check them, pass --secret')
  expect(stdout).toMatch(
    /NOT verified \(there is no --secret\) {2}\/ {2}answered 502, because http\S+ did not answer: /,
  )
})

test('listen: an interrupt gives up a post that is being forwarded, and still answers it', async () => {
  const destination = await openDestination(acts.hang)
  const { url, ended, interrupt } = await listen(['--forward', destination.url, '--json'])
  const answered = fetch(url, { method: 'POST', body: '{}' }).then(({ status }) => status)
  await until(() => destination.requests.length === 1)
  interrupt()
  expect(await answered).toBe(502)
  expect(await ended).toMatchObject({ code: 130, stdout: expect.stringContaining('"status":502') })
})

test('listen: a port that is taken is bad usage', async () => {
  const port = new URL(engine.url).port
  const exit = await cli(['listen', '--port', port])
  expect(exit).toMatchObject({ code: 2, stdout: '' })
  expect(exit.stderr).toMatch(new RegExp(`^perdure: --port ${port} cannot be used: .*EADDRINUSE`))
})
