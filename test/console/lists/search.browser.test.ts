// The search box of the runs list in a real browser: what a plain text finds, what is refused, and what an empty result offers.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../../kit/browser/page.ts'
import { openEngine, returned, unique } from '../../kit/index.ts'

const engine = await openEngine()
const app = unique('shop')
const registration = { triggers: [{ event: 'order/placed' }] }
await engine.runner({ app, workflows: { checkout: { handler: () => returned({ parcel: 'P-99' }), registration } } })
for (const [order, plan] of [
  ['A-4711', 'pro'],
  ['A-4712', 'free'],
]) {
  const { runId } = await engine.api.send({
    name: 'order/placed',
    data: { order },
    attributes: { customer: 'c-17', plan },
  })
  await engine.api.succeeded(runId)
}

async function opened(path: string): Promise<Page> {
  const page = await reusePage(engine.url)
  await page.goto(`${engine.url}/console/n/default/${path}`)
  await page
    .getByRole('row', { name: /checkout/ })
    .first()
    .waitFor()
  return page
}
const rows = (page: Page) => page.getByRole('row', { name: /checkout/ })
async function filter(page: Page, text: string): Promise<void> {
  await page.getByLabel('Filter runs').fill(text)
  await page.keyboard.press('Enter')
}

test('a text finds a run by its payload, its attributes and the name of its event, without being asked to', async () => {
  const page = await opened('runs')
  for (const text of ['a-4711', 'P-99', 'order/placed', 'c-17', 'checkout']) {
    await filter(page, text)
    await expect.poll(() => page.url()).toContain(`q=${text}`)
    await expect.poll(() => rows(page).count(), { message: text }).toBe(text === 'a-4711' ? 1 : 2)
  }
})

test('an empty result offers what was not searched', async () => {
  const page = await opened('runs')
  await filter(page, 'in:names A-4711')
  await page.getByText('The search covered ids, workflows and apps.').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Also search event names, attributes and payloads' }).click()
  await expect.poll(() => rows(page).count()).toBe(1)
  await filter(page, 'A-0815')
  await page.getByText('It does not cover results of steps and log lines.').waitFor()
  await page.getByRole('button', { name: 'Remove text:A-0815' }).click()
  await expect.poll(() => rows(page).count()).toBe(2)
})

test('two attributes must both hold, in the address too; each is dropped alone', async () => {
  const page = await opened('runs')
  await filter(page, 'attribute:customer:c-17 attribute:plan:pro')
  await expect.poll(() => rows(page).count()).toBe(1)
  expect(page.url()).toContain('?attribute=customer:c-17&attribute=plan:pro')
  await page.reload()
  await expect.poll(() => rows(page).count()).toBe(1)
  expect(await page.getByLabel('Filter runs').inputValue()).toBe('attribute:customer:c-17 attribute:plan:pro')
  await filter(page, 'attribute:customer:c-17 attribute:plan:none')
  await page.getByRole('button', { name: 'Remove attribute:plan:none' }).click()
  await expect.poll(() => rows(page).count()).toBe(2)
})

test('what is no filter is refused with the way to write it, and the list stays', async () => {
  const page = await opened('runs')
  await filter(page, 'Stat:failed')
  await page.getByRole('alert').getByText('Did you mean status:').waitFor()
  expect(await axeViolations(page)).toEqual([])
  expect(await rows(page).count()).toBe(2)
  await filter(page, 'Status:Succeeded')
  await expect.poll(() => page.url()).toContain('status=succeeded')
  expect(await page.getByText('Did you mean').count()).toBe(0)
})
