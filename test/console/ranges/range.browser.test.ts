// The time range of lists, days in the search box of the runs, and the zone of displayed and typed times.

import { expect, test } from 'vitest'
import { axeViolations, openPage } from '../../kit/browser/page.ts'
import { openEngine, returned, unique } from '../../kit/index.ts'

const { api, url, runner } = await openEngine()
const at = (path: string) => `${url}/console/n/default/${path}`
const TOKYO = { timezone: 'Asia/Tokyo' }

test('a range is chosen by its ends or a preset, in the zone that is shown, and is in the URL', async () => {
  const name = unique('order.placed')
  await api.send({ name })
  const page = await openPage(url, TOKYO)
  await page.goto(at('events'))
  await page.getByRole('row', { name }).waitFor()
  const button = page.getByRole('button', { name: 'Time range' })
  await button.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Time range' })
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByLabel('From (local time)').fill('2026-01-01T09:00')
  await dialog.getByLabel('To (local time)').fill('2026-01-01T08:30')
  await page.keyboard.press('Enter')
  await dialog.getByRole('alert').getByText('From must be before To').waitFor()
  await dialog.getByLabel('To (local time)').fill('2026-01-01T10:30')
  await page.keyboard.press('Enter')
  await page.waitForURL(/since=2026-01-01T00:00:00.000Z&until=2026-01-01T01:30:00.000Z/)
  await page.getByText('No matching events').waitFor()
  expect(await page.getByLabel('Since').locator('option:checked').textContent()).toBe('2026-01-01 09:00')
  const chosen = page.getByRole('button', { name: 'until 2026-01-01 10:30', exact: true })
  await chosen.waitFor()
  expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('until 2026-01-01 10:30')
  await page.getByRole('button', { name: 'Session and help' }).click()
  await page.getByRole('menuitem', { name: 'Show UTC' }).click()
  await page.getByRole('button', { name: 'until 2026-01-01 01:30', exact: true }).click()
  expect(await dialog.getByLabel('From (UTC)').inputValue()).toBe('2026-01-01T00:00')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  await page.reload()
  await page.getByRole('button', { name: 'until 2026-01-01 01:30', exact: true }).click()
  await dialog.getByRole('button', { name: 'Yesterday' }).click()
  await page.waitForURL(/since=yesterday&until=today/)
  await page.getByText('No matching events').waitFor()
  await page.getByRole('button', { name: 'until today' }).click()
  await dialog.getByRole('button', { name: 'Today' }).click()
  await page.getByRole('row', { name }).waitFor()
  // The button labelled UTC switches back to local time.
  await page.getByRole('button', { name: 'UTC', exact: true }).click()
  await page.getByRole('button', { name: 'UTC', exact: true }).waitFor({ state: 'detached' })
  await button.click()
  await dialog.getByLabel('From (local time)').waitFor()
})

test('days are words of the box, and the range is whole on a phone', async () => {
  const [app, name] = [unique('shop'), unique('order')]
  await runner({ app, workflows: { [name]: () => returned(1) } })
  await api.succeeded((await api.send({ name, app })).runId)
  const page = await openPage(url, { ...TOKYO, width: 380, colorScheme: 'dark' })
  await page.goto(at(`runs?app=${app}`))
  const box = page.getByLabel('Filter runs')
  const search = async (text: string) => {
    await box.fill(text)
    await page.keyboard.press('Enter')
  }
  await search(`app:${app} since:Yesterday`)
  await page.waitForURL(/since=yesterday/)
  await page.getByRole('row', { name: name }).waitFor()
  await search(`app:${app} since:yesterday until:today`)
  await page.getByText('No matching runs').waitFor()
  await search('since:yesterdy')
  await page.getByText('Did you mean yesterday?').waitFor()
  await page.goto(at(`runs?app=${app}&since=today`))
  await page.getByRole('row', { name: name }).waitFor()
  await page.getByRole('button', { name: 'since today' }).click()
  const dialog = page.getByRole('dialog', { name: 'Time range' })
  const { x = -1, width = 0 } = (await dialog.boundingBox()) ?? {}
  expect(x).toBeGreaterThanOrEqual(0)
  expect(x + width).toBeLessThanOrEqual(380)
  expect(await dialog.getByLabel('From (local time)').inputValue()).toMatch(/T00:00$/)
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Clear' }).click()
  await page.waitForURL(address => !address.search.includes('since'))
})

test('every page with a window has the time range', async () => {
  const page = await openPage(url)
  for (const path of [
    '',
    'runs',
    'events',
    'errors',
    'audit',
    'webhooks/deliveries',
    'workflows',
    'workflows/shop/order',
  ]) {
    await page.goto(at(path))
    await page.getByRole('button', { name: 'Time range' }).click()
    await page.getByRole('dialog', { name: 'Time range' }).getByRole('button', { name: 'Yesterday' }).click()
    await page.waitForURL(/since=yesterday&until=today/)
    await page.getByRole('button', { name: /until today$/ }).waitFor()
    // A read that the engine refuses is a fault of the page.
    await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0)
    expect(await page.getByText('Could not load this.').count(), path).toBe(0)
  }
})
