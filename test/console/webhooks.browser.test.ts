// Webhooks in the console: an endpoint that shows its secret once, a test, a failing destination, redelivery of all matching
// deliveries, a receiver that says why it refused a post, and a check of a post in the tab.

import type { WebhookEndpoint, WebhookReceiver } from '@perdure/protocol'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations, enterKey, openPage, reusePage, unlock } from '../kit/browser/page.ts'
import { openDestination, openEngine, postWebhook, signedHeaders, unique, until } from '../kit/index.ts'
import { answer } from '../kit/servers/raw-server.ts'
import { API_KEYS, SECRET_KEY, Webhooks } from '../kit/webhook/webhooks.ts'

const engine = await openEngine({
  env: { ENGINE_API_KEYS: API_KEYS, ENGINE_WEBHOOK_ALLOW_PRIVATE: '1', ENGINE_WEBHOOK_SCHEDULE: '1ms' },
})
const api = engine.api.as(SECRET_KEY)
const webhooks = new Webhooks(api)
const at = (path: string) => `${engine.url}/console/n/default/webhooks/${path}`

/** A page on which the secret key signed in and unlocked the actions. */
async function unlocked(path: string, expected: readonly string[] = []): Promise<Page> {
  const page = await reusePage(engine.url, { expected: ['401', ...expected] })
  await page.goto(at(path))
  await enterKey(page, SECRET_KEY)
  await unlock(page, SECRET_KEY)
  return page
}

test('an endpoint is made, tested, misses deliveries while it is down, and gets them again', async () => {
  let isDown = false
  const destination = await openDestination(request => answer(request, isDown ? 500 : 200, isDown ? 'down' : 'thanks'))
  const page = await unlocked('endpoints')
  await page.getByText('No endpoints yet').waitFor()
  await page.getByRole('button', { name: 'New endpoint…' }).click()
  await page.getByLabel('URL', { exact: true }).fill(destination.url)
  await page.getByLabel('run.succeeded').check()
  await page.getByRole('button', { name: 'Create' }).click()
  const dialog = page.getByRole('dialog')
  const secret = await dialog.getByText(/^whsec_/).innerText()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  await page.getByRole('row', { name: /enabled.*no deliveries/ }).waitFor()
  await page.getByRole('link', { name: destination.url }).click()
  const windows = page.getByLabel('Since').getByRole('option')
  expect(await windows.allTextContents()).toEqual(['1h', '24h', '7d', '30d'])
  await page.getByRole('link', { name: 'Endpoints', exact: true }).click()
  expect(await page.content()).not.toContain(secret)

  const act = async (label: string) => {
    await page.getByRole('button', { name: `Actions on ${destination.url}` }).click()
    await page.getByRole('menuitem', { name: label }).click()
  }
  await act('Send test…')
  await dialog.getByRole('button', { name: 'Send' }).click()
  await dialog.getByRole('heading', { name: 'Test delivered' }).waitFor()
  await dialog.getByText('thanks').waitFor()
  await dialog.getByText('Request headers').click()
  await dialog.getByText('webhook-signature: v1,').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Done' }).click()
  isDown = true
  await act('Send test…')
  await dialog.getByRole('button', { name: 'Send' }).click()
  await dialog.getByRole('heading', { name: 'Test failed' }).waitFor()
  await dialog.getByText('1. HTTP error').waitFor()
  await dialog.getByRole('button', { name: 'Done' }).click()

  const app = unique('app')
  await webhooks.runs(app, 3)
  const ended = (status: string) =>
    until(async () => (await webhooks.list(`?app=${app}&status=${status}`)).length === 3)
  await ended('exhausted')
  // A reload would lock the actions again.
  await page.getByRole('link', { name: 'Deliveries', exact: true }).click()
  await page.getByLabel('Status').selectOption('exhausted')
  await page.getByLabel('Event').selectOption('run.succeeded')
  await page.getByLabel('Status').getByText('exhausted (3)').waitFor({ state: 'attached' })
  await page
    .getByRole('row', { name: /exhausted.*2 of 2/ })
    .nth(2)
    .waitFor()
  const tests = page.getByRole('row', { name: /test/ })
  await until(async () => (await tests.count()) === 0, { what: 'a list without the test' })
  await page
    .getByRole('row', { name: /exhausted/ })
    .first()
    .getByText('exhausted')
    .click()
  await page.getByText('Attempts: 2 of 2').waitFor()
  await page.getByText('2. HTTP error').waitFor()
  expect(await page.getByText('down', { exact: true }).count()).toBe(2)
  expect(await axeViolations(page)).toEqual([])
  await page.goBack()

  isDown = false
  await page.getByRole('button', { name: 'Redeliver all matching…' }).click()
  await dialog.getByText('3 match.').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Redeliver 3' }).click()
  await page.getByText('3 queued, 0 skipped').waitFor()
  await ended('succeeded')

  await page.goto(at('endpoints'))
  const row = page.getByRole('row', { name: /33 %.* m?s \/ \d.* m?s/ })
  await row.getByRole('link', { name: destination.url }).click()
  await page
    .getByText(/3 of 9 deliveries succeeded: 33 %\. Latest .* with responses: median \d.* m?s, p95 \d/)
    .waitFor()
  await page.getByRole('table', { name: 'Deliveries to this endpoint' }).waitFor({ state: 'attached' })
  // Failed posts are hatched. Without a fill they would be black.
  const fill = await page.locator('rect[data-kind=failed]').first().getAttribute('fill')
  expect(fill).toBe(`url(#${await page.locator('pattern').getAttribute('id')})`)
  expect(await axeViolations(page)).toEqual([])
})

test('all deliveries are not redelivered by mistake: a filter is needed', async () => {
  const page = await unlocked('deliveries')
  const button = page.getByRole('button', { name: 'Redeliver all matching…' })
  await button.waitFor()
  expect(await button.getAttribute('aria-disabled')).toBe('true')
  expect(await button.getAttribute('title')).toBe('Choose a filter first')
})

test('a receiver shows why it refused posts, and the tab verifies one', async () => {
  const created = await api.post('/webhook-receivers', { eventName: 'repo/pushed', scheme: 'github', name: 'pushes' })
  const { id, slug, secret } = created.json as WebhookReceiver & { secret: string }
  const body = '{"ref":"refs/heads/main"}'
  const post = { scheme: 'github', secret: 'not the secret of this receiver', body, at: Date.now() } as const
  expect((await postWebhook(engine.api, slug, post)).status).toBe(401)
  const stripe = { ...post, scheme: 'stripe' } as const
  expect((await postWebhook(engine.api, slug, stripe)).status).toBe(401)
  const page = await unlocked(`receivers/${id}`)
  await page.getByRole('row', { name: /wrong signature: the secrets differ.*127\.0\.0\.1/ }).waitFor()
  await page.getByRole('row', { name: /signed as stripe, which is not this receiver's scheme/ }).waitFor()

  const headers = Object.entries(signedHeaders({ ...post, secret })).map(([name, value]) => `${name}: ${value}`)
  const verify = page.getByRole('button', { name: 'Verify' })
  await page.getByLabel('Secret', { exact: true }).fill('not the secret of this receiver')
  await page.getByLabel('Headers, one per line').fill(headers.join('\n'))
  await page.getByLabel('Exact body').fill(body)
  await verify.click()
  await page.getByText('The signature is wrong: this secret did not sign exactly this body.').waitFor()
  await page.getByLabel('Secret', { exact: true }).fill(secret)
  await verify.click()
  await page.getByText('The signature is right.').waitFor()
  expect(await axeViolations(page)).toEqual([])
})

test('a receiver is made, its refused fields say why, its secret is shown once, and the list shows its last accepted post', async () => {
  const taken = (await api.post('/webhook-receivers', { eventName: 'x', slug: 'taken' })).json as WebhookReceiver
  const page = await unlocked('receivers', ['400', '409'])
  await page.getByRole('button', { name: 'New receiver…' }).click()
  const dialog = page.getByRole('dialog')
  const field = (name: string) => dialog.getByLabel(name)
  /** The field has the focus and shows why its value was refused. */
  const refused = async (name: string, why: RegExp) => {
    await dialog.getByRole('alert').getByText(why).waitFor()
    expect(await field(name).getAttribute('aria-invalid')).toBe('true')
    expect(await page.evaluate('document.activeElement.getAttribute("aria-describedby")')).toMatch(/-error$/)
    expect(await dialog.locator('[aria-invalid]').count()).toBe(1)
  }
  await page.keyboard.press('Enter')
  await refused('Event name', /eventName/)
  await field('Event name').fill('repo/pushed.by-form')
  await field('Signature').selectOption('github')
  const slug = field('Last part of the URL')
  await slug.fill('A!')
  await page.keyboard.press('Enter')
  await refused('Last part of the URL', /slug must match/)
  await slug.fill(taken.slug)
  await page.keyboard.press('Enter')
  await refused('Last part of the URL', /used by another receiver/)
  expect(await axeViolations(page)).toEqual([])
  await field('Secret from the provider').fill('a secret that GitHub has')
  await dialog.getByText('Show CLI / curl').click()
  await dialog.getByText('--secret @secret.txt').waitFor()
  expect(await dialog.getByText('a secret that GitHub has').count()).toBe(0)
  await field('Secret from the provider').fill('')
  await slug.fill('by-form')
  await page.keyboard.press('Enter')
  const secret = await dialog.getByText(/^[0-9a-f]{64}$/).innerText()
  await dialog.getByText(`${engine.url}/webhooks/by-form`).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'I have stored it' }).click()
  const row = page.getByRole('row', { name: /by-form/ })
  await row.getByText('never').waitFor()
  expect(await page.content()).not.toContain(secret)
  const post = { scheme: 'github', secret, body: '{}', at: Date.now() } as const
  expect((await postWebhook(engine.api, 'by-form', post)).status).toBe(202)
  await row.getByText('never').waitFor({ state: 'detached', timeout: 30_000 })
  const [listed] = ((await api.get('/webhook-receivers')).json as WebhookReceiver[]).filter(
    one => one.slug === 'by-form',
  )
  expect(await row.locator('time').first().getAttribute('datetime')).toBe(listed?.lastAcceptedAt)
})

test('a rotation names the time until which the old secret counts, for endpoints and receivers', async () => {
  const url = 'https://hooks.example.com/rotated'
  const { id } = await webhooks.endpoint({ url })
  const page = await unlocked(`endpoints/${id}`)
  const dialog = page.getByRole('dialog')
  const rotate = async (name: string) => {
    await page.getByRole('button', { name: `Actions on ${name}` }).click()
    await page.getByRole('menuitem', { name: 'Rotate secret…' }).click()
    await dialog.getByRole('button', { name: 'Rotate', exact: true }).click()
    await dialog.getByRole('button', { name: 'Copy secret' }).waitFor()
  }
  const untilIn = (text: Locator) => text.locator('time').getAttribute('datetime')
  const endpoint = page.getByRole('region', { name: 'Endpoint', exact: true })
  await endpoint.getByText('one', { exact: true }).waitFor()
  await rotate(url)
  const signing = dialog.getByText(/Both secrets sign until \d.*, in 23 h \d+ min\./)
  const endpoints = (await api.get('/webhook-endpoints')).json as WebhookEndpoint[]
  const { oldSecretsUntil } = endpoints.find(each => each.id === id) as WebhookEndpoint
  expect(await untilIn(signing)).toBe(oldSecretsUntil)
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'I have stored it' }).click()
  expect(await untilIn(endpoint.getByText(/old and new both sign until/))).toBe(oldSecretsUntil)

  const receiver = { eventName: 'repo/rotated', scheme: 'github', name: 'rotated' }
  const made = (await api.post('/webhook-receivers', receiver)).json as WebhookReceiver
  await page.getByRole('link', { name: 'Receivers', exact: true }).click()
  await page.getByRole('link', { name: 'rotated', exact: true }).click()
  await page.getByRole('region', { name: 'Receiver', exact: true }).getByText('one', { exact: true }).waitFor()
  await rotate('rotated')
  await dialog.getByText(/Requests signed with either are accepted until \d/).waitFor()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  await page.getByText(/old and new are both accepted until/).waitFor()
  expect(made).not.toHaveProperty('oldSecretsUntil')
  expect(await axeViolations(page)).toEqual([])
})

test('on an open engine the buttons that need a key say so, with the command that makes the first one', async () => {
  const open = await openEngine()
  const page = await openPage(open.url)
  for (const [path, name] of [
    ['endpoints', 'New endpoint…'],
    ['receivers', 'New receiver…'],
    ['deliveries?status=failed', 'Redeliver all matching…'],
  ] as const) {
    await page.goto(`${open.url}/console/n/default/webhooks/${path}`)
    const button = page.getByRole('button', { name })
    expect(await button.getAttribute('title')).toBe('needs a secret key, even on an open engine')
    await page.getByText('Creating the first key turns authentication on').waitFor()
    await page.getByText('perdure keys create --kind secret --label ops').waitFor()
  }
  expect(await axeViolations(page)).toEqual([])
})

test('an endpoint or a receiver that does not exist is not said to be the first', async () => {
  const page = await unlocked('endpoints/whe_unknown')
  await page.getByText('No endpoint with this ID').waitFor()
  await page.getByRole('link', { name: 'All endpoints' }).waitFor()
  expect(await page.getByText('No endpoints yet').count()).toBe(0)
  await page.goto(at('receivers/whr_unknown'))
  await page.getByText('No receiver with this ID').waitFor()
})
