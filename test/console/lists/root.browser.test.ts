// Root runs only: the list without child runs.

import { expect, test } from 'vitest'
import { axeViolations, openPage } from '../../kit/browser/page.ts'
import { child, flow, openEngine, returned, unique } from '../../kit/index.ts'

const { api, url, runner } = await openEngine()

test('Root runs hides children, in the list, in its commands and in a bulk action', async () => {
  const [app, name, kid] = [unique('shop'), unique('order'), unique('pack')]
  await runner({ app, workflows: { [name]: flow([child('pack', kid)]), [kid]: () => returned(1) } })
  const { runId } = await api.send({ name, app })
  await api.succeeded(runId)
  const page = await openPage(url)
  await page.goto(`${url}/console/n/default/runs?app=${app}`)
  const rows = page.locator('tr[data-key]')
  await expect.poll(() => rows.count()).toBe(2)
  const toggle = page.getByRole('button', { name: 'Root runs' })
  expect(await toggle.getAttribute('aria-pressed')).toBe('false')
  await toggle.press('Enter')
  await page.waitForURL(/root=true/)
  await expect.poll(() => rows.evaluateAll(all => all.map(each => each.getAttribute('data-key')))).toEqual([runId])
  expect(await toggle.getAttribute('aria-pressed')).toBe('true')
  expect(await page.getByLabel('Filter runs').inputValue()).toBe(`app:${app} root:true`)
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Session and help' }).click()
  await page.getByRole('menuitem', { name: 'Copy as perdure' }).click()
  await expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()')).toContain('--root')
  const counted = await api.post('/bulk', { action: 'replay', dryRun: true, filter: { app, root: true } })
  expect(counted.json).toMatchObject({ matched: 1 })
  await page.setViewportSize({ width: 380, height: 800 })
  await toggle.click()
  await page.waitForURL(address => !address.search.includes('root'))
  await expect.poll(() => rows.count()).toBe(2)
})
