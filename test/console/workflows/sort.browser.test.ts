// The list of workflows can be sorted by its columns, and keeps the order in the URL.

import { expect, test } from 'vitest'
import { axeViolations, openPage } from '../../kit/browser/page.ts'
import { openEngine, returned, unique } from '../../kit/index.ts'

const { api, url, runner } = await openEngine()

test('workflows are sorted by a press or a key on the head of a column, and by a field on a phone', async () => {
  const app = unique('shop')
  const refuse = () => {
    throw Object.assign(new Error('no'), { retriable: false })
  }
  const retry = { maxAttempts: 1 }
  const failing = { handler: refuse, registration: { retry } }
  await runner({ app, workflows: { alpha: () => returned(1), beta: failing, gamma: () => returned(1) } })
  for (const name of ['beta', 'beta', 'gamma']) {
    const { runId } = await api.send({ name, app })
    await (name === 'beta' ? api.failed(runId) : api.succeeded(runId))
  }
  const page = await openPage(url)
  await page.goto(`${url}/console/n/default/workflows?app=${app}`)
  const names = () => page.locator('tr[data-key] td:first-child a').allTextContents()
  const head = (name: string) => page.getByRole('columnheader', { name })
  await page.getByRole('row', { name: 'beta' }).getByRole('cell', { name: '2', exact: true }).first().waitFor()
  expect(await names()).toEqual(['alpha', 'beta', 'gamma'])
  await head('Runs').getByRole('button').click()
  await expect.poll(names).toEqual(['beta', 'gamma', 'alpha'])
  await page.waitForURL(/sort=runs&dir=desc/)
  expect(await head('Runs').getAttribute('aria-sort')).toBe('descending')
  await head('Workflow').getByRole('button').focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await page.waitForURL(/sort=name&dir=desc/)
  await expect.poll(names).toEqual(['gamma', 'beta', 'alpha'])
  expect(await head('Workflow').getAttribute('aria-sort')).toBe('descending')
  expect(await head('Runs').getAttribute('aria-sort')).toBeNull()
  await page.reload()
  await expect.poll(names).toEqual(['gamma', 'beta', 'alpha'])
  await page.keyboard.press('Tab')
  await head('Workflow').getByRole('button').click()
  await page.waitForURL(address => !address.search.includes('sort'))
  expect(await axeViolations(page)).toEqual([])
  await page.setViewportSize({ width: 380, height: 800 })
  await page.getByLabel('Sort').selectOption('Last failure')
  await page.waitForURL(/sort=failure/)
  await expect.poll(names).toEqual(['beta', 'alpha', 'gamma'])
  expect(await axeViolations(page)).toEqual([])
})
