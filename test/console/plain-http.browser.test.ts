// The console over plain HTTP under a name that is not this machine's: browsers then have no clipboard, no crypto.randomUUID,
// no crypto.subtle and no locks. Everything that uses them works in another way.

import { createHmac } from 'node:crypto'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { enterKey, openPage, plainUrl, reusePage, unlock } from '../kit/browser/page.ts'
import { flow, openEngine, openRunner, run, until } from '../kit/index.ts'
import { API_KEYS, SECRET_KEY } from '../kit/webhook/webhooks.ts'

const engine = await openEngine({ env: { ENGINE_API_KEYS: API_KEYS } })
const api = engine.api.as(SECRET_KEY)
const origin = plainUrl(engine.url)
/** The browser says that it ignores this header on such an address. Until it is unlocked, a session may not list keys or try events. */
const expected = ['401', '/keys?limit=100', '/events?dryRun=1', 'Cross-Origin-Opener-Policy']

/** A page on which the secret key signed in and unlocked the actions. */
async function unlocked(path: string): Promise<Page> {
  const page = await reusePage(origin, { expected })
  await page.goto(`${origin}/console/n/default/${path}`)
  const missing = '[isSecureContext, navigator.clipboard, crypto.randomUUID, crypto.subtle, navigator.locks]'
  expect(await page.evaluate(missing)).toEqual([false, undefined, undefined, undefined, undefined])
  await enterKey(page, SECRET_KEY)
  await unlock(page, SECRET_KEY)
  return page
}

test('an event is sent to the letter with a new dedupe id, and its id is copied, also inside a dialog', async () => {
  const page = await unlocked('events/send?name=plain&data={"n":12345678901234567890}')
  const dedupeId = page.getByLabel('Deduplication ID')
  await page.getByRole('button', { name: 'New', exact: true }).click()
  expect(await dedupeId.inputValue()).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('link', { name: /^evt_/ }).click()
  await page.getByText('12345678901234567890').waitFor()
  await page.keyboard.press('y')
  await page.getByText('Link copied', { exact: true }).waitFor()
  const link = page.url()
  await page.goBack()
  await dedupeId.focus()
  await dedupeId.fill('')
  await page.keyboard.press('Control+V')
  expect(await dedupeId.inputValue()).toBe(link)
})

test('a secret that is shown once is copied from its dialog, and the focus stays there', async () => {
  const page = await unlocked('keys')
  await page.getByRole('row', { name: /secret/ }).waitFor()
  // The list is not read again: the secret does not wait for it.
  await page.route(/\/keys(\?|$)/, (route, request) => (request.method() === 'GET' ? undefined : route.continue()))
  await page.getByRole('button', { name: 'New key…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Label').fill('copied')
  await dialog.getByRole('button', { name: 'Create' }).click()
  const copy = dialog.getByRole('button', { name: /^Copy/ })
  await copy.click()
  await page.getByText('Copied', { exact: true }).waitFor()
  expect(await copy.evaluate(button => button.matches(':focus'))).toBe(true)
})

test('a post is verified in the tab', async () => {
  const receiver = { scheme: 'github', eventName: 'github/push', name: 'pushes' }
  const { id, secret } = (await api.post('/webhook-receivers', receiver)).json as { id: string; secret: string }
  const page = await unlocked(`webhooks/receivers/${id}`)
  const body = '{"n":"ä"}'
  await page.getByLabel('Secret', { exact: true }).fill(secret)
  await page
    .getByLabel('Headers, one per line')
    .fill(`X-Hub-Signature-256: sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
  await page.getByLabel('Exact body').fill(body)
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByText('The signature is right.').waitFor()
  await page.getByLabel('Exact body').fill(`${body} `)
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByText('The signature is wrong').waitFor()
})

test.each([
  ['', 1],
  ['delete window.SharedWorker', 2],
])('two tabs follow a run %s: %i streams', async (content, streams) => {
  const first = await openPage(origin, { expected })
  const pages = [first, await openPage(origin, { expected, context: first.context() })]
  const name = `followed-${streams}`
  await (await openRunner({ workflows: { [name]: flow([run('a', () => 1)]) } })).register(api)
  for (const page of pages) {
    await page.addInitScript({ content })
    await page.goto(`${origin}/console/n/default/runs`)
    const field = page.getByLabel('API key')
    const live = page.getByRole('button', { name: 'Live', exact: true })
    await field.or(live).waitFor()
    if (await field.isVisible()) await field.fill(SECRET_KEY)
    await page.keyboard.press('Enter')
    await live.waitFor()
  }
  const count = async () => (await api.get('/metrics')).text.match(/perdure_streams_open\{kind="topics"\} (\d+)/)?.[1]
  await until(async () => (await count()) === String(streams), { what: 'the streams' })
  await api.send({ name })
  for (const page of pages) await page.getByRole('row', { name: new RegExp(`succeeded.*${name}`) }).waitFor()
})
