// The palette: names of events and commands as well as pages and workflows; and the ways to bulk jobs and bundles.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations, enterKey, reusePage, unlock } from '../../kit/browser/page.ts'
import { openEngine, unique } from '../../kit/index.ts'
import { API_KEYS, SECRET_KEY } from '../../kit/webhook/webhooks.ts'

const engine = await openEngine({ env: { ENGINE_API_KEYS: API_KEYS } })
const event = unique('parcel.left')
await engine.api.as(SECRET_KEY).post('/events', { name: event })

async function signedIn(): Promise<Page> {
  const page = await reusePage(engine.url, { expected: ['401', '403'] })
  await page.goto(`${engine.url}/console/n/default/runs`)
  await enterKey(page, SECRET_KEY)
  await page.getByRole('button', { name: 'Unlock' }).waitFor()
  return page
}

/** Types into the palette and chooses the first result that has the text. */
async function choose(page: Page, text: string, option: string | RegExp = text): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: /^Go to/ }).fill(text)
  await page.getByRole('option', { name: option }).first().click()
}

test('what is typed before the palette is there arrives in it, and is no shortcut', async () => {
  const page = await signedIn()
  const scripts = /\/palette-.*\.js$/
  let load = () => {}
  await page.route(scripts, route => {
    load = () => void route.continue()
  })
  const asked = page.waitForRequest(scripts)
  await page.keyboard.press('/')
  await asked
  await page.keyboard.type('?tx order')
  load()
  const input = page.getByRole('combobox', { name: /^Go to/ })
  await input.waitFor()
  await input.pressSequentially('s')
  expect(await input.inputValue()).toBe('?tx orders')
  expect(await page.getByText(/^Theme: /).count()).toBe(0)
})

test('names of events and commands are found', async () => {
  const page = await signedIn()
  await choose(page, event.slice(0, 8), `${event} events with this name`)
  await page.waitForURL(`**/events?name=${event}`)
  await choose(page, 'send an', /Send an event/)
  await page.waitForURL('**/events/send')
  await choose(page, 'bundle', /Open a bundle/)
  await page.waitForURL('**/bundle')
  await choose(page, 'bulk', /Bulk jobs/)
  await page.waitForURL('**/bulk')
  await choose(page, 'pause', /Pause live updates/)
  await page.locator('[data-look=paused]').waitFor()
  await choose(page, 'theme', /Theme/)
  await page.getByText(/^Theme: /).waitFor()
  await choose(page, 'help', /Keyboard shortcuts/)
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await choose(page, 'unlock', /Unlock actions/)
  await page.getByLabel('Secret key').fill(SECRET_KEY)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^Lock · / }).waitFor()
  await choose(page, 'lock', /^Lock actions/)
  await page.getByRole('button', { name: 'Unlock' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('option').first().waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await choose(page, 'sign out', /Sign out/)
  await page.getByLabel('API key').waitFor()
})

test('the list of runs leads to the bulk jobs and to bundles', async () => {
  const page = await signedIn()
  for (const [item, path] of [
    ['Bulk jobs', '**/bulk'],
    ['Open a bundle…', '**/bundle'],
  ] as const) {
    await page.getByRole('button', { name: 'More about runs' }).click()
    await page.getByRole('menuitem', { name: item }).click()
    await page.waitForURL(path)
    await page.goBack()
  }
})

test('/console/go leads to the key and to the audit entry of an id', async () => {
  const api = engine.api.as(SECRET_KEY)
  const make = async (label: string) => ((await api.post('/keys', { kind: 'read', label })).json as { id: string }).id
  const [first, second] = [await make('carla'), await make('dora')]
  await api.request('DELETE', `/keys/${first}`)
  const entries = (await api.get('/control-actions?action=key.revoke')).json as { id: string }[]
  const page = await signedIn()
  await page.goto(`${engine.url}/console/go/${entries[0]?.id}`)
  await page.getByRole('row', { name: /key\.revoke/ }).waitFor()
  expect(await page.getByRole('row', { name: /key\.create/ }).count()).toBe(0)
  await page.goto(`${engine.url}/console/go/${second}`)
  await page.waitForURL(/\/n\/default\/keys/)
  await page.locator('h1').waitFor()
  await unlock(page, SECRET_KEY)
  await page.getByRole('row', { name: /dora/ }).waitFor()
  expect(await page.getByRole('row', { name: /carla/ }).count()).toBe(0)
  await page.getByRole('button', { name: 'All keys' }).click()
  await page.getByRole('row', { name: /ops/ }).first().waitFor()
})
