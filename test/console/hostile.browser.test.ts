// Texts of attackers in every field that an outsider can fill, on every page: they stay text, whatever they contain, and no page
// freezes. Every page also fails on a violation of its policy, an error, or a request to another host.

import type { SendEventReply } from '@perdure/protocol'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { EVIL, faultsOfText, longestTask, MEASURE } from '../kit/browser/hostile-page.ts'
import { enterKey, goTo, loaded, openPage, signInUnlocked } from '../kit/browser/page.ts'
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
} from '../kit/index.ts'
import { answer } from '../kit/servers/raw-server.ts'
import { SECRET_KEY } from '../kit/webhook/webhooks.ts'

/** The answers before the sign-in, to reads that need a secret key, and to planted ids and parameters. */
const expected = ['400', '401', '403', '404', '409'].map(status => `status of ${status} `)
/** A task may take this many times as long as a fixed piece of work, which takes some 30 ms. */
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
/** Close to the largest value that the engine accepts: many small members, and one text of hidden characters. */
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

const [delivery] = (await api.get('/webhook-deliveries?limit=1')).json as { id: string }[]
const groups = (await api.get('/errors')).json as { fingerprint: string }[]
const { bulkId } = (await api.post('/bulk', { action: 'replay', ids: [failedId, runId] })).json as { bulkId: string }

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
  ...groups.map(({ fingerprint }) => `errors/${fingerprint}`),
  `errors/${encodeURIComponent(EVIL)}`,
  'webhooks/deliveries',
  `webhooks/deliveries/${delivery?.id}`,
  `webhooks/deliveries/${encodeURIComponent(EVIL)}`,
  'webhooks/endpoints',
  `webhooks/endpoints/${endpoint.id}`,
  'webhooks/receivers',
  `webhooks/receivers/${receiver.id}`,
  'audit',
  'keys',
  'engine',
  'bulk',
  `bulk/${bulkId}`,
  'bundle',
  encodeURIComponent(EVIL),
] as const

const urlOf = (path: string) => `${engine.url}/console/n/default/${path}`

/** A page on which the secret key signed in. */
async function signedIn(): Promise<Page> {
  const page = await openPage(engine.url, { expected })
  await page.addInitScript({ content: MEASURE })
  await signInUnlocked(page, { url: engine.url, key: SECRET_KEY })
  return page
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

test('planted texts are text on every page, and no page freezes', { timeout: 400_000 }, async () => {
  const page = await signedIn()
  const faults: string[] = []
  for (const path of PAGES) {
    await page.evaluate('window.longestTaskMs = 0')
    // The engine sees the URL of a load.
    if (path.includes(encodeURIComponent(EVIL))) await page.goto(urlOf(path))
    else await goTo(page, urlOf(path))
    await loaded(page)
    const at = path.slice(0, 60)
    faults.push(...(await faultsOfText(page)).map(fault => `${at}: ${fault}`))
    const longest = await longestTask(page)
    if (longest > TASK_MAX) faults.push(`${at}: a task took ${longest.toFixed(1)} pieces of work`)
  }
  expect(faults).toEqual([])
})

/** A page, and the buttons or menu items that open the dialog there. */
const DIALOGS: readonly [path: string, ...opens: (string | RegExp)[]][] = [
  [`runs/${failedId}`, 'Replay'],
  [`runs/${failedId}`, 'Edit and replay…'],
  [`runs/${failedId}`, 'Retry from there…'],
  [`workflows/${encodeURIComponent(app)}/${encodeURIComponent(workflow)}`, 'Run now…'],
  [`workflows/${encodeURIComponent(app)}/${encodeURIComponent(workflow)}`, 'Delete…'],
  ['schedules', 'Fire now…'],
  ['keys', /^Revoke/],
  ['webhooks/endpoints', /^Actions on/, 'Send test…', 'Send'],
  ['webhooks/endpoints', /^Actions on/, 'Delete…'],
  ['webhooks/receivers', /^Actions on/, 'Delete…'],
  [`webhooks/deliveries/${delivery?.id}`, 'Redeliver…'],
]

test('planted texts are text in dialogs, their commands and the looks at rows', async () => {
  const page = await signedIn()
  const faults: string[] = []
  const dialog = page.getByRole('dialog')
  for (const [path, ...opens] of DIALOGS) {
    await goTo(page, urlOf(path))
    for (const name of opens) {
      const control = page.getByRole('button', { name, exact: true }).or(page.getByRole('menuitem', { name }))
      await control.and(page.locator(':not([aria-disabled=true])')).first().click()
    }
    await dialog.waitFor()
    const commands = dialog.getByText('Show CLI / curl')
    if ((await commands.count()) > 0) await commands.click()
    await loaded(page)
    faults.push(...(await faultsOfText(page)).map(fault => `${opens.at(-1)} at ${path.slice(0, 30)}: ${fault}`))
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  }
  for (const path of ['runs', 'events', 'errors', 'workflows', 'runners', 'audit', 'webhooks/deliveries']) {
    await goTo(page, urlOf(path))
    await page.locator('tbody tr[data-key]').first().waitFor()
    await page.locator('h1').focus()
    for (const key of ['j', 'Space']) await page.keyboard.press(key)
    await page.getByRole('complementary', { name: /^Preview of/ }).waitFor()
    faults.push(...(await faultsOfText(page)).map(fault => `the look at ${path}: ${fault}`))
  }
  expect(faults).toEqual([])
})

test('planted texts are text in messages and in the palette', async () => {
  const page = await signedIn()
  await goTo(page, urlOf(`runs/${failedId}`))
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  const refusal = { error: { code: EVIL, message: evil('refused'), requestId: EVIL } }
  await page.route('**/replay', route =>
    route.fulfill({ status: 409, contentType: 'application/json', body: JSON.stringify(refusal) }),
  )
  await page.getByRole('dialog').getByRole('button', { name: 'Replay', exact: true }).click()
  await page
    .getByText(/refused.*U\+202E/)
    .first()
    .waitFor()
  expect(await faultsOfText(page)).toEqual([])
  await goTo(page, urlOf('runs'))
  await page.locator('h1').focus()
  for (const text of ['', 'workflow', EVIL, `run_${EVIL}`, failedId, 'javascript:window.planted=1']) {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Go to an ID, page, workflow' }).fill(text)
    await page.getByRole('dialog').getByRole('option').first().waitFor()
    expect(await faultsOfText(page), text).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await loaded(page)
    expect(await faultsOfText(page), `after ${text}`).toEqual([])
  }
})

/** A forged bundle: every field is planted, numbers are out of range, and statuses do not exist. */
function hostileBundle(): object {
  const ids = { runId: EVIL, attempt: 1 }
  const step = (more: object) => ({
    ...{ id: EVIL, name: evil('step'), op: 'StepRun', index: 0, status: 'succeeded', attempt: 1 },
    ...{ startedAt: '2026-03-01T09:00:00Z', finishedAt: '2026-03-01T09:00:01Z', ...more },
  })
  const frame = (seq: number, more: object) => ({ seq, ts: '2026-03-01T09:00:00Z', ...ids, ...more })
  return {
    'perdure-bundle': 1,
    truncated: { section: EVIL },
    run: {
      ...{ id: EVIL, workflow: evil('workflow'), app: evil('app'), status: EVIL, triggerKind: EVIL, eventName: EVIL },
      ...{ attempt: -1e300, createdAt: '2026-03-01T09:00:00Z', finishedAt: EVIL, durationMs: -1, error: ERROR },
      ...{ input: DATA, result: DATA, parentRunId: EVIL, eventId: `evt_${EVIL}`, progress: { value: DATA, at: EVIL } },
    },
    steps: [
      step({ data: DATA }),
      ...['constructor', '__proto__', 'toString', EVIL].map((name, index) =>
        step({ id: name, name, op: name, status: name, index: index + 1, error: ERROR, finishedAt: EVIL }),
      ),
      step({ id: 'far', index: 1e15, attempt: 1e15, startedAt: '+275760-09-13T00:00:00Z', finishedAt: undefined }),
      step({ id: 'before', index: -5, startedAt: '-000001-01-01T00:00:00Z', childRunId: EVIL, eventName: EVIL }),
      null,
      EVIL,
    ],
    timeline: [
      frame(1, { kind: 'run_status', status: EVIL }),
      frame(2, { kind: 'step_status', name: '__proto__', index: 1, status: 'constructor' }),
      frame(3, { kind: EVIL, name: EVIL, error: ERROR }),
      frame(4, { kind: 'pass_sent', pass: 1e15, runner: EVIL }),
      frame(5, { kind: 'run_status', status: '__proto__' }),
      frame(-6, { kind: 'progress', value: DATA }),
    ],
    logs: [frame(7, { level: EVIL, scope: EVIL, message: evil('log'), fields: DATA, index: 0 })],
  }
}

test('a planted bundle is text on every tab and at every moment; what is no bundle is refused in words', async () => {
  const page = await openPage(engine.url, { expected })
  await page.addInitScript({ content: MEASURE })
  await page.goto(`${engine.url}/console/n/default/bundle`)
  await enterKey(page, SECRET_KEY)
  const drop = (text: string) =>
    page.getByLabel('Bundle file').setInputFiles({
      name: `${EVIL.replaceAll(/[/\0]/g, '')}.json`,
      mimeType: 'text/html',
      buffer: Buffer.from(text),
    })
  const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
  const refused = [EVIL, '[]', '{}', '{"perdure-bundle":2}', '{"perdure-bundle":1,"run":[]}', nested]
  for (const text of refused) {
    await drop(text)
    await page.getByRole('alert').filter({ hasText: /\./ }).waitFor()
    expect(await faultsOfText(page), text.slice(0, 40)).toEqual([])
  }
  await drop(JSON.stringify(hostileBundle()))
  await page.getByText('The file is incomplete').waitFor()
  const tabs = await page.getByRole('tab').allTextContents()
  expect(tabs.length).toBeGreaterThan(2)
  for (const tab of tabs) {
    await page.getByRole('tab', { name: tab, exact: true }).click()
    expect(await faultsOfText(page), tab).toEqual([])
  }
  await page.getByRole('tab', { name: 'Timeline' }).click()
  await page.getByRole('treegrid').focus()
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'n', 'z', '[', '[', '[', ']', '0', 'h']) {
    await page.keyboard.press(key)
    expect(await faultsOfText(page), key).toEqual([])
  }
  expect(await longestTask(page)).toBeLessThan(TASK_MAX)
})
