// Signing in to the console: without keys, with a key, with a code, and after the key was revoked.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { openAdministration } from '@perdure/engine'
import { expect, test } from 'vitest'
import { axeViolations, openPage, reusePage, signInUnlocked } from '../kit/browser/page.ts'
import {
  EngineProcess,
  flow,
  gate,
  onCleanup,
  openEngine,
  openRunner,
  returned,
  tempStoreFile,
  until,
  wait,
} from '../kit/index.ts'

const READ = { label: 'ada', namespace: 'default', kind: 'read', key: 'a read key of a test' }
const SECRET = { label: 'bob', namespace: 'default', kind: 'secret', key: 'a secret key of a test' }
const OTHER = { label: 'eve', namespace: 'team-b', kind: 'read', key: 'a key of another namespace' }
const EVENT = { label: 'web', namespace: 'default', kind: 'event', key: 'an event key of a test' }
/** Everything that a page keeps and shows. */
const KEPT = 'JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.documentElement.outerHTML])'
const keyed = () => openEngine({ env: { ENGINE_API_KEYS: JSON.stringify([READ, SECRET, EVENT, OTHER]) } })
/** An engine with keys and without runs. Its tests leave its keys as they are. */
const empty = await keyed()
const text = (page: { locator(selector: string): { innerText(): Promise<string> } }) => page.locator('body').innerText()

test('an open engine: the empty overview and list, and the first run, made by the copied command, appears in it live', async () => {
  const engine = await openEngine()
  const page = await openPage(engine.url)
  await page.goto(`${engine.url}/console/`)
  await page.getByText('No runs in this window').waitFor()
  expect(page.url()).toContain('/console/n/default/')
  expect(await text(page)).toContain('open, this machine only')
  await page.getByRole('button', { name: 'Copy commands' }).last().click()
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
  await expect.poll(copied).toContain(`curl ${engine.url}/events `)
  const command = await copied()
  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  await page.getByText('No runs yet').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
  await engine.runner({ workflows: { 'user/signed-up': () => returned({ ok: true }) } })
  await promisify(execFile)('bash', ['-c', command])
  await page.getByRole('row', { name: /succeeded.*user\/signed-up/ }).waitFor()
})

test('a read key reads; actions unlock with a secret key, and lock again', async () => {
  const page = await reusePage(empty.url, { expected: ['401'] })
  await page.goto(`${empty.url}/console/n/default/runs?status=failed&kept=1`)
  await page.getByLabel('API key').fill(READ.key)
  expect(await axeViolations(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.getByText('No matching runs').waitFor()
  expect(page.url()).toContain('?status=failed&kept=1')
  await page.getByRole('button', { name: 'Unlock' }).click()
  await page.getByLabel('Secret key').fill(SECRET.key)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^Lock · 1[45]:/ }).click()
  await page.getByRole('button', { name: 'Unlock' }).waitFor()
  const kept = await page.evaluate<string>(KEPT)
  expect(kept).not.toContain(READ.key)
  expect(kept).not.toContain(SECRET.key)
})

test('a read that is under way while actions are unlocked is read again, although it is refused', async () => {
  const page = await reusePage(empty.url, { expected: ['401', '403', 'ERR_ABORTED'] })
  const [held, released] = [gate(), gate()]
  let reads = 0
  await page.route(
    ({ pathname }) => pathname === '/keys',
    async route => {
      held.open()
      if (++reads === 1) await released.opened
      await route.continue().catch(() => {})
    },
  )
  await page.goto(`${empty.url}/console/n/default/keys`)
  await page.getByLabel('API key').fill(READ.key)
  await page.keyboard.press('Enter')
  await held.opened
  await page.getByRole('button', { name: 'Unlock' }).click()
  await page.getByLabel('Secret key').fill(SECRET.key)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^Lock · / }).waitFor()
  released.open()
  await page.getByRole('row', { name: /ada.*read/ }).waitFor()
})

test('under a read key the actions of a row and of a run are locked; unlocked, a run is cancelled; locked again, the token is gone', async () => {
  const engine = await keyed()
  const api = engine.api.as(SECRET.key)
  const runner = await openRunner({ workflows: { patient: flow([wait('approval', 'approved')]) } })
  await runner.register(api)
  const { runId } = await api.send({ name: 'patient', app: runner.app })
  await api.reaches(runId, 'waiting')
  const page = await openPage(engine.url, { expected: ['401'] })
  await page.goto(`${engine.url}/console/n/default/runs`)
  await page.getByLabel('API key').fill(READ.key)
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: /patient/ }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('.')
  const item = (name: string) => page.getByRole('menuitem', { name })
  const isLocked = async (name: string) => {
    expect(await item(name).getAttribute('data-locked')).toBe('true')
    expect(await item(name).getAttribute('title')).toBe('needs a secret key')
  }
  for (const name of ['Cancel…', 'Pause…']) await isLocked(name)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Enter')
  const actions = page.getByRole('button', { name: 'More actions' })
  await actions.click()
  for (const name of ['Cancel…', 'Pause…']) await isLocked(name)
  await page.keyboard.press('Escape')

  await page.getByRole('button', { name: 'Unlock' }).click()
  await page.getByLabel('Secret key').fill(SECRET.key)
  const answer = page.waitForResponse(/\/session$/)
  await page.keyboard.press('Enter')
  const { token } = (await (await answer).json()) as { token: string }
  await actions.click()
  await item('Cancel…').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel run', exact: true }).click()
  await api.reaches(runId, 'cancelled')
  expect((await engine.api.as(token).get('/whoami')).status).toBe(200)

  await page.getByRole('button', { name: /^Lock · / }).click()
  await page.getByRole('button', { name: 'Unlock' }).waitFor()
  expect(await page.getByRole('button', { name: 'Replay', exact: true }).getAttribute('title')).toBe(
    'needs a secret key',
  )
  expect(await page.evaluate<string>(KEPT)).not.toContain(token)
  // The engine has ended the session.
  await until(async () => (await engine.api.as(token).get('/whoami')).status === 401, { what: 'the end of the token' })
})

test('a key that opens nothing here is refused with the reason', async () => {
  const page = await reusePage(empty.url, { expected: ['401', '403'] })
  await page.goto(`${empty.url}/console/`)
  await page.getByLabel('API key').fill('no key at all')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'Key not found or revoked' }).waitFor()
  await page.getByLabel('API key').fill(EVENT.key)
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'a key of kind event cannot open a session' }).waitFor()
  await page.goto(`${empty.url}/console/n/default/runs`)
  await page.getByLabel('API key').fill(OTHER.key)
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Switch to "team-b"' }).click()
  await page.getByText('console: eve').waitFor()
})

test('a code signs in once, and leaves the address; a second tab shares the session, which ends with the last tab', async () => {
  const { json } = await empty.api.as(SECRET.key).post('/session/codes', {})
  const { code } = json as { code: string }
  const page = await openPage(empty.url, { expected: ['401'] })
  await page.goto(`${empty.url}/console/#code=${code}`)
  await page.getByText('No runs yet').waitFor()
  expect(page.url()).not.toContain(code)
  const second = await openPage(empty.url, { context: page.context() })
  await second.goto(`${empty.url}/console/n/default/runs`)
  await second.getByText('No runs yet').waitFor()
  const third = await openPage(empty.url, { expected: ['401'] })
  await third.goto(`${empty.url}/console/#code=${code}`)
  await third.getByLabel('API key').waitFor()
  await page.close()
  await second.close()
  const later = await openPage(empty.url, { context: page.context(), expected: ['401'] })
  await later.goto(`${empty.url}/console/n/default/runs`)
  await later.getByLabel('API key').waitFor()
})

test('a session whose key is revoked freezes the page, and goes on after the next sign-in', async () => {
  const created = await empty.api.as(SECRET.key).post('/keys', { kind: 'read', label: 'eve' })
  const { id, key } = created.json as { id: string; key: string }
  const page = await reusePage(empty.url, { expected: ['401'] })
  await page.goto(`${empty.url}/console/n/default/runs?status=failed`)
  await page.getByLabel('API key').fill(key)
  await page.keyboard.press('Enter')
  await page.getByText('No matching runs').waitFor()
  await empty.api.as(SECRET.key).request('DELETE', `/keys/${id}`)
  // The end of the stream shows it, without a press.
  await page.getByText('Your session has ended').waitFor()
  expect(await page.locator('[data-page]').getAttribute('inert')).not.toBeNull()
  // The engine answers late who signs in: until then the streams of all tabs know only the revoked token, and say that it
  // ended.
  await page.route('**/whoami', async route => {
    await page.waitForTimeout(1000)
    await route.continue()
  })
  await page.getByLabel('API key').fill(READ.key)
  await page.keyboard.press('Enter')
  await page.locator('[data-page]:not([inert])').getByText('No matching runs').waitFor()
  expect(page.url()).toContain('?status=failed')
  await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
  expect(await page.getByLabel('API key').count()).toBe(0)
  expect(await page.title()).toBe('failed · Runs · Perdure')
  expect(await page.evaluate('document.activeElement.tagName')).toBe('H1')
})

test('an engine without keys that takes the place of one with keys asks for none', async () => {
  const engine = new EngineProcess({ env: { ENGINE_API_KEYS: JSON.stringify([READ]) } })
  const { url } = await engine.start()
  const page = await openPage(url, { expected: ['401', 'ERR_'] })
  await page.goto(`${url}/console/n/default/runs`)
  await page.getByLabel('API key').fill(READ.key)
  await page.keyboard.press('Enter')
  await page.getByText('No runs yet').waitFor()
  await engine.kill9()
  await new EngineProcess({ args: ['--port', new URL(url).port] }).start()
  await page.getByText('open, this machine only').waitFor()
  await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
  expect(await page.getByLabel('API key').count()).toBe(0)
})

test('a secret key that is revoked locks the actions, and the session that reads goes on', async () => {
  const as = empty.api.as(SECRET.key)
  const { id, key } = (await as.post('/keys', { kind: 'secret', label: 'eve' })).json as { id: string; key: string }
  const page = await reusePage(empty.url, { expected: ['401', '403'] })
  await page.goto(`${empty.url}/console/n/default/runs`)
  await page.getByLabel('API key').fill(READ.key)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Unlock' }).click()
  await page.getByLabel('Secret key').fill(key)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^Lock · / }).waitFor()
  await as.request('DELETE', `/keys/${id}`)
  await page.getByRole('link', { name: 'Keys', exact: true }).click()
  await page.getByRole('button', { name: 'Unlock' }).waitFor()
  expect(await page.getByLabel('API key').count()).toBe(0)
  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  await page.getByText('No runs yet').waitFor()
})

test('a clock of the browser that is set forward and back moves neither "ago" nor the end of the unlocked actions', async () => {
  const engine = await keyed()
  const api = engine.api.as(SECRET.key)
  const runner = await openRunner({ workflows: { welcome: () => returned(1) } })
  await runner.register(api)
  await api.succeeded((await api.send({ name: 'welcome', app: runner.app })).runId)
  const page = await openPage(engine.url, { expected: ['401'] })
  await page.clock.install()
  await signInUnlocked(page, { url: engine.url, key: SECRET.key })
  const row = page.getByRole('row', { name: /succeeded.*welcome/ })
  for (const hours of [3, -3]) {
    const read = page.waitForResponse(/\/whoami$/)
    await page.clock.setSystemTime(Date.now() + hours * 3_600_000)
    // The engine's time is read again, because a machine that slept would look the same.
    await read
    await page.getByRole('button', { name: /^Lock · 1[45]:/ }).waitFor()
    expect(await row.innerText()).toMatch(/now|\d s ago/)
  }
})

test('a suspended namespace says so, and offers no replay', async () => {
  const storeFile = tempStoreFile()
  const engine = await openEngine({ storeFile })
  await engine.runner({ workflows: { welcome: () => returned({ ok: true }) } })
  const { runId } = await engine.api.send({ name: 'welcome' })
  await engine.api.succeeded(runId)
  const { administration, close } = await openAdministration(`sqlite:${storeFile}`)
  onCleanup(close)
  await administration.suspend('default')
  const isSuspended = async () => ((await engine.api.get('/whoami')).json as { suspended: boolean }).suspended
  await until(isSuspended, { what: 'the engine following' })
  const page = await openPage(engine.url)
  await page.goto(`${engine.url}/console/n/default/runs/${runId}`)
  await page.getByRole('status').getByText('The namespace is suspended: no new runs start.').waitFor()
  for (const name of ['Replay', 'Edit and replay…'])
    expect(await page.getByRole('button', { name, exact: true }).getAttribute('title')).toBe(
      'the namespace is suspended',
    )
  await page.keyboard.press('r')
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(await axeViolations(page)).toEqual([])
})
