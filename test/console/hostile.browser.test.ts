// Texts of attackers in every field that an outsider can fill, on every page: they are text, whatever they contain, and no page
// freezes. Every page also fails on a violation of its policy, an error, or a request to another host.

import type { SendEventReply } from '@perdure/protocol'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { EVIL, faultsOfText, longestTask, MEASURE } from '../kit/browser/hostile-page.ts'
import { openPage } from '../kit/browser/page.ts'
import {
  discovered,
  type Invoke,
  type LogLine,
  opcode,
  openDestination,
  openEngine,
  openRunner,
  postWebhook,
  returned,
  until,
} from '../kit/index.ts'
import { answer } from '../kit/servers/raw-server.ts'
import { SECRET_KEY } from '../kit/webhook/webhooks.ts'

/** The answers before the sign-in, to reads that need a secret key, and to planted ids and parameters. */
const expected = ['400', '401', '403', '404'].map(status => `status of ${status} `)
/** A task may take this many times a fixed piece of work that takes some 30 ms. */
const TASK_MAX = 25
const evil = (name: string) => `${name}${EVIL}`
/** Names have no control characters. */
const named = (name: string) => evil(name).replaceAll('\0', '').replaceAll('\u0007', '')
const short = (name: string) => `${named(name).slice(0, 56)}\u202e\u200b`

/** Labels of keys have no control characters. */
const label = 'ops \u202e\u200b<img src=x onerror="window.planted=1">'
const engine = await openEngine({
  env: {
    ENGINE_API_KEYS: JSON.stringify([{ label, namespace: 'default', kind: 'secret', key: SECRET_KEY }]),
    ENGINE_WEBHOOK_ALLOW_PRIVATE: '1',
    ENGINE_WEBHOOK_SCHEDULE: '1ms',
  },
})
const api = engine.api.as(SECRET_KEY)
const deep = `${'[{"a":'.repeat(98)}"x"${'}]'.repeat(98)}`
const DATA = {
  [evil('key')]: evil('value'),
  deep: JSON.parse(deep) as unknown,
  url: 'javascript:alert(1)',
  formula: '=1+1',
}
/** Close to the largest value that the engine takes: many small members, and one text of hidden characters. */
const MANY = Array.from({ length: 60_000 }, (_, i) => ({ [`k${i}`]: '\u202e' }))
const LONG = '\u202e'.repeat(300_000)
const ERROR = {
  name: evil('Error').slice(0, 60),
  message: evil('message'),
  stack: `Error: ${EVIL}\n    at ${EVIL} (https://evil.example/a.js:1:1)`,
}
const [app, workflow, failing] = [short('app'), named('workflow'), named('failing')]
const eventName = named('event')
const logs: LogLine[] = [{ level: 'warn', message: evil('log'), fields: DATA, scope: '@root', index: 0 }]

function handler({ ctx, pass }: Invoke) {
  if (pass === 1 && ctx.workflow === failing)
    return discovered([opcode('StepRun', evil('step'), { error: ERROR, retriable: false })], logs)
  if (pass === 1) {
    const op = opcode('StepRun', evil('step'), { data: DATA })
    const reply = discovered([op], logs)
    const body = {
      opcodes: [op],
      logs,
      progress: { [evil('progress')]: EVIL },
      attributes: { customer: named('acct') },
    }
    return 'body' in reply ? { ...reply, body } : reply
  }
  if (ctx.workflow === failing)
    return { status: 500, body: { error: { ...ERROR, retriable: false }, retriable: false, logs } }
  return returned(pass === 2 ? DATA : null, logs)
}

const registration = {
  triggers: [{ event: eventName, if: `event.data.formula == '=1+1'` }],
  attributes: { data: 'event.data.url' },
}
const runner = await openRunner({
  app,
  runner: short('runner'),
  workflows: {
    [workflow]: { handler, registration },
    [failing]: {
      handler,
      registration: { triggers: [{ event: eventName }, { cron: '0 9 * * 1' }], retry: { maxAttempts: 1 } },
    },
    large: { handler: ({ event }) => returned(event.data) },
  },
})
const identity = {
  runtime: 'node \u202e',
  language: 'js \u202e',
  version: short('1'),
  framework: short('f'),
  sdkName: short('sdk'),
  region: short('eu'),
}
await runner.register(api, { ...identity, features: ['attributes', short('feature')] })

const sent = async (event: object) => {
  const answer = await api.post('/events', event)
  expect(answer.status, answer.text.slice(0, 300)).toBe(202)
  return answer.json as SendEventReply
}
const first = await sent({ name: eventName, data: DATA, dedupeId: short('dedupe') })
const runOf = (name: string) => first.triggered?.find(entry => entry.workflow === name)?.runId as string
const [runId, failedId] = [runOf(workflow), runOf(failing)]
await api.reaches(runId, 'succeeded')
await api.reaches(failedId, 'failed')
const large = { long: '', many: (await sent({ name: 'large', data: MANY })).triggered?.[0]?.runId as string }
const long = await sent({ name: 'large', data: LONG })
large.long = long.triggered?.[0]?.runId as string
await api.reaches(large.many, 'succeeded')
await api.reaches(large.long, 'succeeded')

const destination = await openDestination(request => answer(request, 500, EVIL.replace(/[\0\u2028]/g, '')))
const created = async (path: string, body: object, method: 'POST' | 'PUT' = 'POST') => {
  const made = await api.request(method, path, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
  expect(made.status, made.text.slice(0, 300)).toBeLessThan(300)
  return made.json as { id: string; slug: string; secret: string }
}
const endpoint = await created('/webhook-endpoints', {
  url: `${destination.url}/?<img src=x onerror="window.planted=1">javascript:`,
  eventKinds: ['run.succeeded', 'run.failed'],
})
const receiver = await created('/webhook-receivers', {
  scheme: 'github',
  eventName: named('hook'),
  name: short('receiver'),
})
await created('/keys', { kind: 'read', label: `${label} 2` })
await created(
  `/schedules/${encodeURIComponent('hostile.schedule')}`,
  { cron: '0 9 * * 1', event: { name: named('scheduled'), data: DATA } },
  'PUT',
)
await created(`/runs/${failedId}/replay`, { input: DATA })
const wrong = { scheme: 'github', secret: 'wrong', body: JSON.stringify(DATA), at: Date.now() } as const
expect(
  (await postWebhook(engine.api, receiver.slug, wrong, { 'user-agent': '<img src=x onerror=alert(1)>' })).status,
).toBe(401)

const PAGES = [
  '',
  'runs',
  `runs?q=${encodeURIComponent(EVIL)}`,
  `runs?status=${encodeURIComponent(EVIL)}&workflow=${encodeURIComponent(EVIL)}&since=${encodeURIComponent(EVIL)}&cols=${encodeURIComponent(EVIL)}`,
  ...['timeline', 'logs', 'io', 'tree', 'passes', 'audit', 'raw'].map(tab => `runs/${runId}?tab=${tab}`),
  ...['timeline', 'logs', 'io'].map(tab => `runs/${failedId}?tab=${tab}`),
  `runs/${large.many}?tab=io`,
  `runs/${large.long}?tab=io`,
  `runs/${encodeURIComponent(EVIL)}`,
  `runs/${runId}?tab=${encodeURIComponent(EVIL)}&step=${encodeURIComponent(EVIL)}&t=${encodeURIComponent(EVIL)}`,
  'workflows',
  `workflows/${encodeURIComponent(app)}/${encodeURIComponent(workflow)}`,
  'events',
  `events?name=${encodeURIComponent(EVIL)}`,
  `events/${first.eventId}`,
  `events/send?like=${first.eventId}`,
  `events/send?name=${encodeURIComponent(EVIL)}&data=${encodeURIComponent(EVIL)}`,
  'schedules',
  'limits',
  'runners',
  'errors',
  'webhooks/deliveries',
  'webhooks/endpoints',
  `webhooks/endpoints/${endpoint.id}`,
  'webhooks/receivers',
  `webhooks/receivers/${receiver.id}`,
  'audit',
  'keys',
  'engine',
  'bulk',
  'bundle',
  encodeURIComponent(EVIL),
] as const

/** A page on which the secret key signed in. */
async function signedIn(): Promise<Page> {
  const page = await openPage(engine.url, { expected })
  await page.addInitScript({ content: MEASURE })
  await page.goto(`${engine.url}/console/n/default/runs`)
  await page.getByLabel('API key').fill(SECRET_KEY)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Unlock' }).click()
  await page.getByLabel('A secret key').fill(SECRET_KEY)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^Lock · / }).waitFor()
  return page
}

const loaded = async (page: Page) => {
  await page.locator('h1').waitFor()
  await until(async () => (await page.locator('[aria-busy]').count()) === 0, { what: 'the end of loading' })
}

test('a large value is text first; a worker reads it, and the page does not freeze', async () => {
  const page = await signedIn()
  await page.goto(`${engine.url}/console/n/default/runs/${large.many}?tab=io`)
  await loaded(page)
  const input = page.getByRole('region', { name: 'Input', exact: true })
  await input.getByText('more characters').waitFor()
  const before = page.workers().length
  await input.getByRole('button', { name: 'Show as a tree' }).click()
  await input.getByRole('treeitem').nth(150).waitFor()
  expect(page.workers().length).toBe(before + 1)
  await input.getByRole('treeitem', { name: '59800 more' }).click()
  await input.getByRole('treeitem').nth(1100).waitFor()
  expect(await faultsOfText(page)).toEqual([])
  expect(await longestTask(page)).toBeLessThan(TASK_MAX)
})

test('planted texts are text on every page, and no page freezes', { timeout: 240_000 }, async () => {
  const page = await signedIn()
  const faults: string[] = []
  for (const path of PAGES) {
    await page.goto(`${engine.url}/console/n/default/${path}`)
    await loaded(page)
    const at = path.slice(0, 60)
    faults.push(...(await faultsOfText(page)).map(fault => `${at}: ${fault}`))
    const longest = await longestTask(page)
    if (longest > TASK_MAX) faults.push(`${at}: a task took ${longest.toFixed(1)} pieces of work`)
  }
  expect(faults).toEqual([])
})
