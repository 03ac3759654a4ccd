// Expiring API keys, and erased runs.

import type { ApiKey } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { axeViolations, reusePage, signInUnlocked, unlock } from '../../kit/browser/page.ts'
import { JumpClock, openEngine, openRunner, returned, unique, until } from '../../kit/index.ts'
import { API_KEYS, SECRET_KEY } from '../../kit/webhook/webhooks.ts'

const clock = new JumpClock()
const engine = await openEngine({ clock, env: { ENGINE_API_KEYS: API_KEYS } })
const api = engine.api.as(SECRET_KEY)
const DAY_MS = 86_400_000

async function unlockedPage(path: string, expected: string[] = []) {
  const page = await reusePage(engine.url, { expected: ['401', ...expected] })
  await signInUnlocked(page, { url: engine.url, key: SECRET_KEY, path })
  return { page, dialog: page.getByRole('dialog') }
}

test('a key is created that expires in 30 days or on a date, and the list marks one that has expired', async () => {
  const soon = new Date(clock.now() + 60_000).toISOString()
  await api.post('/keys', { kind: 'read', label: 'gone', expiresAt: soon })
  const { page, dialog } = await unlockedPage('keys', ['403'])
  const create = async (label: string, life: string) => {
    await page.getByRole('button', { name: 'New key…' }).click()
    await dialog.getByLabel('Label', { exact: true }).fill(label)
    await dialog.getByRole('combobox', { name: 'Expires' }).selectOption(life)
  }
  await create('month', '30 days')
  await dialog.getByText(/^Refused after \d{4}-/).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  await dialog.getByRole('button', { name: 'I have stored it' }).click()
  await page
    .getByRole('row', { name: /month/ })
    .getByText(/^in 29 d/)
    .first()
    .waitFor()
  await create('date', 'on a date')
  const button = dialog.getByRole('button', { name: 'Create', exact: true })
  expect(await button.getAttribute('title')).toBe('choose a date')
  await dialog.getByLabel('Last day').fill('2091-05-17')
  await button.click()
  await dialog.getByRole('button', { name: 'I have stored it' }).click()
  await page
    .getByRole('row', { name: /date/ })
    .getByText(/^2091-05-1\d$/)
    .first()
    .waitFor()
  const keys = (await api.get('/keys')).json as ApiKey[]
  const endOf = (label: string) => Date.parse(keys.find(key => key.label === label)?.expiresAt ?? '')
  expect(Math.abs(endOf('month') - clock.now() - 30 * DAY_MS)).toBeLessThan(DAY_MS)
  clock.jump(61_000)
  await page.reload()
  await unlock(page, SECRET_KEY)
  const gone = page.getByRole('row', { name: /gone/ })
  await gone.getByText('expired', { exact: true }).last().waitFor()
  expect(await gone.getByRole('button', { name: 'Revoke…' }).count()).toBe(0)
  expect(await page.getByRole('row', { name: /month/ }).getByRole('button', { name: 'Revoke…' }).count()).toBe(1)
})

test('a finished run is erased once the end of its ID is typed; the list of runs takes the place of its page', async () => {
  const name = unique('order')
  const runner = await openRunner({ workflows: { [name]: { handler: () => returned(1) } } })
  await runner.register(api)
  const { runId, eventId } = await api.send({ name, data: { card: '4711' } })
  await api.succeeded(runId)
  const { page, dialog } = await unlockedPage(`runs/${runId}`, ['404'])
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await page.keyboard.press('.')
  await page.getByRole('menuitem', { name: 'Erase…' }).press('Enter')
  const end = runId.slice(-8)
  const erase = dialog.getByRole('button', { name: 'Erase for good' })
  await dialog.getByText('Erased: the run with its input').waitFor()
  expect(await erase.getAttribute('title')).toBe(`type ${end} first`)
  expect(await axeViolations(page)).toEqual([])
  await page.keyboard.type(end)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor()
  await page.getByText(`Run ${end} is erased`).waitFor()
  expect((await api.get(`/runs/${runId}`)).status).toBe(404)
  expect((await api.get(`/events/${eventId}`)).json).toMatchObject({ id: eventId, erased: true })
  await until(async () => (await page.getByRole('row', { name: new RegExp(end) }).count()) === 0, {
    what: 'no such row',
  })
  expect(page.url()).toContain('/n/default/runs')
})
