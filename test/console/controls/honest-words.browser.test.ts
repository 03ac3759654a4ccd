// Pages say what is true: the audit log, events that woke runs or come later, endpoints that fail, and a console that cannot
// load.

import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { axeViolations, enterKey, openPage, reusePage, signInUnlocked } from '../../kit/browser/page.ts'
import {
  flow,
  onCleanup,
  openDestination,
  openEngine,
  openRunner,
  returned,
  run,
  step,
  unique,
  until,
  wait,
} from '../../kit/index.ts'
import { answer } from '../../kit/servers/raw-server.ts'

const KEYS = [
  { label: 'ops', namespace: 'default', kind: 'secret', key: 'a secret key of honest words' },
  { label: 'ada', namespace: 'default', kind: 'read', key: 'a read key of honest words' },
]
const [SECRET, READ] = KEYS.map(({ key }) => key) as [string, string]
const env = { ENGINE_WEBHOOK_ALLOW_PRIVATE: '1', ENGINE_API_KEYS: JSON.stringify(KEYS) }
const closed = await openEngine({ env })
const { api, url, runner } = await openEngine()
const at = (path: string, origin = url) => `${origin}/console/n/default/${path}`
const ops = closed.api.as(SECRET)

test('the audit log says what was rotated, changed and redelivered', async () => {
  const { id } = (await ops.post('/webhook-endpoints', { url: 'http://127.0.0.1:9/', eventKinds: ['run.failed'] }))
    .json as { id: string }
  const patch = (body: object) =>
    ops.request('PATCH', `/webhook-endpoints/${id}`, {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
  await patch({ rotateSecret: true })
  await patch({ enabled: false, eventKinds: ['run.failed', 'run.succeeded'] })
  expect((await ops.post('/webhook-deliveries/redeliver', { filter: { status: 'failed' } })).status).toBeLessThan(300)
  const page = await reusePage(closed.url, { expected: ['401'] })
  await signInUnlocked(page, { url: closed.url, key: SECRET, path: 'audit' })
  await page.getByRole('row', { name: /endpoint\.update.*rotated the secret/ }).waitFor()
  await page.getByRole('row', { name: /endpoint\.update.*changed enabled, eventKinds/ }).waitFor()
  await page.getByRole('row', { name: /bulk\.redeliver.*0 matched, 0 requeued, 0 skipped/ }).waitFor()
  expect(await page.getByText('undefined').count()).toBe(0)
})

test('an event that only woke a run is not said to have come to nothing; Send is filled for the run that waits', async () => {
  const [name, event] = [unique('approvals'), unique('order.approved')]
  const filter = 'async.data.order.id == event.data.orderId'
  await runner({ workflows: { [name]: flow([step('WaitForEvent', 'approval', { eventName: event, if: filter })]) } })
  const { runId } = await api.send({ name, data: { orderId: 'A-4711' } })
  const other = await api.send({ name, data: { orderId: 'A-1' } })
  for (const id of [runId, other.runId]) await api.reaches(id, 'waiting')
  const page = await reusePage(url)
  await page.goto(at(`runs/${runId}`))
  await page.getByRole('link', { name: `Send ${event}…` }).click()
  await page.getByText('waiting at approval for this event with the filter').waitFor()
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe(event)
  expect(await page.getByLabel('Event data').innerText()).toBe('{"order":{"id":"A-4711"}}')
  await page.getByRole('list', { name: 'Runs that would resume' }).getByRole('link', { name: runId }).waitFor()
  await page.getByText('It would resume 1 of the 2 runs waiting for this name').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await api.succeeded(runId)
  await page.getByRole('link', { name: /^evt_/ }).click()
  await page.getByText('The event only resumed runs, listed above.').waitFor()
  await page.getByRole('list', { name: 'Runs resumed' }).getByRole('link', { name: runId }).waitFor()
  expect(await page.getByText('No runs started.').count()).toBe(0)
  expect(await axeViolations(page)).toEqual([])
})

test('delayed events are listed and can be cancelled', async () => {
  const name = unique('reminder')
  for (const no of [1, 2]) await api.post('/events', { name, data: { no }, delay: no * 3_600_000 })
  const page = await reusePage(url, { colorScheme: 'dark', width: 380 })
  await page.goto(at('events'))
  await page.getByRole('button', { name: 'Cancel…' }).first().waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1280, height: 800 })
  const later = page.getByRole('region', { name: 'Delayed events' })
  await later.getByRole('row', { name: new RegExp(`${name}.*in 1 h`) }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await later.getByRole('button', { name: 'Cancel…' }).first().click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel event' }).click()
  await page.getByText('Event cancelled').waitFor()
  await expect.poll(() => later.getByRole('row', { name }).count()).toBe(1)
  expect(((await api.get('/scheduled-events')).json as unknown[]).length).toBe(1)
})

test('an endpoint whose posts all fail is failing; its new secret is not lost by Esc', async () => {
  const destination = await openDestination(request => answer(request, 500, 'down'))
  const made = await ops.post('/webhook-endpoints', { url: destination.url, eventKinds: ['run.succeeded'] })
  expect(made.status).toBe(201)
  const name = unique('done')
  const worker = await openRunner({ workflows: { [name]: () => returned(1) } })
  await worker.register(ops)
  await ops.send({ name, app: worker.app })
  await until(() => destination.requests.length > 0)
  const page = await reusePage(closed.url, { expected: ['401'] })
  await signInUnlocked(page, { url: closed.url, key: SECRET, path: 'webhooks/endpoints' })
  const row = page.getByRole('row', { name: new RegExp(destination.url) })
  await row.getByText('failing').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await row.getByRole('button', { name: /^Actions on/ }).click()
  await page.getByRole('menuitem', { name: 'Rotate secret…' }).click()
  await page.getByRole('button', { name: 'Rotate', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/^whsec_/).waitFor()
  for (let i = 0; i < 3; i++) await page.keyboard.press('Escape')
  await page.mouse.click(5, 5)
  expect(await dialog.getByText(/^whsec_/).count()).toBe(1)
  await dialog.getByRole('button', { name: 'I have stored it' }).click()
  await expect.poll(() => dialog.count()).toBe(0)
})

test('a locked button opens Unlock; a secret key may sign in and unlock at once, and a read key signs in alone', async () => {
  const waiting = unique('patient')
  const worker = await openRunner({ workflows: { [waiting]: flow([wait('approval', 'approved')]) } })
  await worker.register(ops)
  const { runId } = await ops.send({ name: waiting, app: worker.app })
  await ops.reaches(runId, 'waiting')
  const page = await reusePage(closed.url, { expected: ['401', '403'] })
  await page.goto(at(`runs/${runId}`, closed.url))
  await enterKey(page, READ)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Cancel…' }).click()
  await page.getByRole('dialog', { name: 'Unlock actions' }).waitFor()
  await page.keyboard.press('Escape')
  await page.goto(at('events/send?name=x', closed.url))
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('dialog', { name: 'Unlock actions' }).waitFor()
  await page.keyboard.press('Escape')

  for (const [key, shown] of [
    [SECRET, /^Lock · /],
    [READ, 'Unlock'],
  ] as const) {
    const fresh = await openPage(closed.url, { expected: ['401', '403'] })
    await fresh.goto(at('runs', closed.url))
    await fresh.getByLabel(/Unlock actions for 15 minutes/).check()
    await enterKey(fresh, key)
    await fresh.getByRole('button', { name: shown }).waitFor()
    if (key === READ) await fresh.getByText('You are signed in. Actions stay locked').waitFor()
  }
})

test('below a prefix that the engine does not know, and beside one that it does, the page says what to set', async () => {
  const prefixed = await openEngine({ env: { ENGINE_PUBLIC_URL: 'http://127.0.0.1:9/tools/perdure' } })
  const proxy = createServer((incoming, outgoing) => {
    const path = incoming.url ?? ''
    if (!path.startsWith('/tools/')) return void outgoing.writeHead(404).end()
    const call = request(`${url}${path.slice('/tools'.length)}`, reply => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(outgoing)
    })
    call.end()
  })
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  onCleanup(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  const behind = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  for (const [origin, path] of [
    [behind, '/tools/console/'],
    [prefixed.url, '/console/'],
  ] as const) {
    const page = await openPage(origin, { expected: ['404', 'Failed to load', 'MIME', 'console/assets', 'Refused'] })
    await page.goto(origin + path)
    await page.getByText('set ENGINE_PUBLIC_URL of the engine').waitFor()
  }
})

test('one button resumes a paused run', async () => {
  const name = unique('paused')
  await runner({ workflows: { [name]: flow([wait('approval', unique('approved')), run('after')]) } })
  const { runId } = await api.send({ name })
  await api.reaches(runId, 'waiting')
  await api.post(`/runs/${runId}/pause`)
  const page = await reusePage(url)
  await page.goto(at(`runs/${runId}`))
  await page.getByRole('button', { name: /^Resume/ }).waitFor()
  expect(await page.getByRole('button', { name: /^Resume/ }).count()).toBe(1)
})
