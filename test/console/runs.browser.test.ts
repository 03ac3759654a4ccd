// The list of runs: filters in the address, keys, selection, and no accessibility violation in light and dark.

import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../kit/browser/page.ts'
import { openEngine, returned } from '../kit/index.ts'

const engine = await openEngine()
await engine.runner({ workflows: { order: () => returned({ ok: true }), digest: () => returned(null) } })
for (let i = 0; i < 6; i++) await engine.api.send({ name: i % 2 === 0 ? 'order' : 'digest' })

test.each(['light', 'dark'] as const)('the list has no violation in %s', async colorScheme => {
  const page = await reusePage(engine.url, { colorScheme })
  await page.goto(`${engine.url}/console/n/default/runs`)
  await page.getByRole('row', { name: /order/ }).nth(2).waitFor()
  expect(await axeViolations(page)).toEqual([])
})

test('filters are typed, are in the address, and are dropped one by one', async () => {
  const page = await reusePage(engine.url)
  await page.goto(`${engine.url}/console/n/default/runs`)
  await page
    .getByRole('row', { name: /digest/ })
    .first()
    .waitFor()
  await page.keyboard.press('f')
  await page.keyboard.type('workflow:order status:succeeded nothing-has-this')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Remove text:nothing-has-this' }).click()
  await page.getByRole('row', { name: /order/ }).nth(2).waitFor()
  expect(await page.getByRole('row', { name: /digest/ }).count()).toBe(0)
  expect(new URL(page.url()).search).toBe('?status=succeeded&workflow=order')
  await page.goBack()
  await page
    .getByRole('row', { name: /digest/ })
    .first()
    .waitFor()
})

test('rows are moved to, selected and replayed by keyboard', async () => {
  const page = await reusePage(engine.url)
  await page.goto(`${engine.url}/console/n/default/runs?workflow=order`)
  await page.getByRole('row', { name: /order/ }).first().waitFor()
  // A press next to the box counts as a press on it.
  await page
    .locator('td[data-box]')
    .first()
    .click({ position: { x: 2, y: 2 } })
  await page.getByText('1 run selected').waitFor()
  await page
    .locator('td[data-box]')
    .nth(2)
    .click({ position: { x: 2, y: 2 }, modifiers: ['Shift'] })
  await page.getByText('3 runs selected').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('h1').focus()
  for (const key of ['k', 'x', 'j', 'x']) await page.keyboard.press(key)
  await page.getByText('2 runs selected').waitFor()
  await page.getByRole('button', { name: 'Replay…' }).focus()
  await page.keyboard.press('Enter')
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Replay 2' }).press('Enter')
  await page.getByText('2 done, 0 skipped, 0 failed').waitFor()
})

test('a read that fails says why, with its request id, and as a command', async () => {
  const page = await reusePage(engine.url, { expected: ['status of 400'] })
  await page.goto(`${engine.url}/console/n/default/runs?status=unknown&app=shop`)
  const banner = page.getByRole('alert').filter({ hasText: 'Could not load this.' })
  await banner.getByText('invalid_request · ').waitFor()
  await banner.getByRole('button', { name: 'Try again' }).waitFor()
  await banner.getByRole('button', { name: 'Copy as curl' }).click()
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
  await expect.poll(copied).toContain(`curl '${engine.url}/runs?`)
  expect(await copied()).toContain('status=unknown')
})
