// Attributes as columns of the runs, and their values as filters, on a laptop and on a phone.

import { expect, test } from 'vitest'
import { axeViolations, openPage } from '../../kit/browser/page.ts'
import { openEngine, returned, unique } from '../../kit/index.ts'

const { api, url, runner } = await openEngine()

test('an attribute is a column, in cards too; its values are filters; the URL and the browser keep it', async () => {
  const [app, name] = [unique('shop'), unique('order')]
  const registration = { attributes: { plan: 'event.data.plan' } }
  await runner({ app, workflows: { [name]: { handler: () => returned(1), registration } } })
  for (const plan of ['pro', 'pro', 'free']) await api.succeeded((await api.send({ name, app, data: { plan } })).runId)
  const page = await openPage(url)
  await page.goto(`${url}/console/n/default/runs?app=${app}`)
  const rows = page.locator('tr[data-key]')
  await expect.poll(() => rows.count()).toBe(3)
  await page.getByRole('button', { name: 'Columns' }).click()
  const dialog = page.getByRole('dialog', { name: 'Columns' })
  await dialog.getByLabel('plan').check()
  await page.waitForURL(/cols=.*%40plan|cols=.*@plan/)
  await dialog.getByLabel('Key of an attribute').fill('region, a')
  await page.keyboard.press('Enter')
  await dialog.getByLabel('region, a').click()
  expect(await axeViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('columnheader', { name: 'plan' }).waitFor()
  await expect.poll(() => rows.getByText('pro', { exact: true }).count()).toBe(2)
  const values = page.getByRole('group', { name: 'plan, in the 3 loaded runs' })
  await values.getByRole('button', { name: 'pro 2' }).press('Enter')
  await page.waitForURL(/attribute=plan:pro/)
  await expect.poll(() => rows.count()).toBe(2)
  expect(await axeViolations(page)).toEqual([])
  // Other lists in this browser also have the column, and cards show it with its name.
  await page.setViewportSize({ width: 380, height: 800 })
  await page.goto(`${url}/console/n/default/runs?app=${app}`)
  const cell = rows.filter({ hasText: 'free' }).locator('td[data-head="plan"]')
  await cell.waitFor()
  const shown = `getComputedStyle(document.querySelector('td[data-head="plan"]'), '::before').content`
  expect(await page.evaluate<string>(shown)).toBe('"plan"')
  await page.getByRole('group', { name: 'plan, in the 3 loaded runs' }).getByRole('button', { name: 'free 1' }).click()
  await page.waitForURL(/attribute=plan:free/)
  await expect.poll(() => rows.count()).toBe(1)
  await page.getByRole('button', { name: 'free 1' }).click()
  await page.waitForURL(address => !address.search.includes('attribute'))
  expect(await axeViolations(page)).toEqual([])
})
