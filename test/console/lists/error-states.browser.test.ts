// States of error groups in the console: a resolved group leaves the list, the overview and the rail, and comes back as
// regressed when a run fails again; an ignored one stays away until it is reopened.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../../kit/browser/page.ts'
import { openEngine } from '../../kit/index.ts'

const engine = await openEngine()
const { app } = await engine.runner({
  workflows: {
    invoice: () => ({ status: 400, body: { error: { message: 'the card was refused' }, logs: [] } }),
  },
})
const fail = async () => engine.api.failed((await engine.api.send({ name: 'invoice', app })).runId)
await fail()

const at = (path: string) => `${engine.url}/console/n/default/${path}`
const row = (page: Page) => page.getByRole('row', { name: /the card was refused/ })
const choose = async (page: Page, action: string) => {
  await row(page).waitFor()
  await page.locator('h1').focus()
  for (const key of ['j', '.']) await page.keyboard.press(key)
  await page.getByRole('menuitem', { name: action, exact: true }).click()
}
/** The rail and the overview show the number of open groups. */
const counted = async (page: Page, count: number) => {
  await page.goto(at(''))
  const rail = page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: /^Errors/ })
  await page
    .getByRole('region', { name: 'Needs attention' })
    .getByText(count > 0 ? /open group/ : /No open errors/)
    .waitFor()
  await rail.filter({ hasText: count > 0 ? `${count} open in 24 h` : /^Errors$/ }).waitFor()
}

test('a resolved group is gone from what is open, and a new failure brings it back as regressed', async () => {
  const page = await reusePage(engine.url)
  await counted(page, 1)
  await page.goto(at('errors'))
  const rail = page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: /^Errors/ })
  await rail.filter({ hasText: '1 open in 24 h' }).waitFor()
  await choose(page, 'Resolve')
  await page.getByText('No open errors within 24h').waitFor()
  // The rail does not wait for its next read.
  await rail.filter({ hasText: /^Errors$/ }).waitFor()
  await page.getByLabel('State').selectOption('resolved')
  await row(page).getByText('resolved').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await counted(page, 0)
  await fail()
  await page.goto(at('errors'))
  await row(page).getByText('regressed, resolved').waitFor()
  await counted(page, 1)
})

test('an ignored group stays ignored after another failure, until it is reopened on its page', async () => {
  const page = await reusePage(engine.url)
  await page.goto(at('errors'))
  await choose(page, 'Ignore')
  await page.getByText('No open errors within 24h').waitFor()
  await fail()
  await page.goto(at('errors?state=ignored'))
  await row(page).getByText('ignored').waitFor()
  await row(page).getByRole('link').first().click()
  await page.getByRole('button', { name: 'Reopen' }).click()
  await page.getByRole('button', { name: 'Resolve' }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.goto(at('errors'))
  await row(page).waitFor()
})
