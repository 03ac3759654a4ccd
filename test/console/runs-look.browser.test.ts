// Ways to see rows of the list of runs: the peek, the menu of a row, columns and density, saved views, links, hidden payloads.

import { expect, test } from 'vitest'
import { axeViolations, openPage, reusePage } from '../kit/browser/page.ts'
import { flow, openEngine, run, unique } from '../kit/index.ts'

const engine = await openEngine()
const veiled = await openEngine({ env: { ENGINE_CONSOLE_PAYLOADS: '0' } })
const app = unique('shop')
const refuse = () => {
  throw Object.assign(new Error('card 4711 was refused'), { retriable: false })
}
const workflows = { order: { handler: flow([run('charge', refuse)]), registration: { retry: { maxAttempts: 1 } } } }
const failedOn = async ({ api, runner }: typeof engine) => {
  await runner({ app, workflows })
  const { runId } = await api.send({ name: 'order', app, data: { email: 'ada@example.com', total: 7 } })
  await api.failed(runId)
  return runId
}
const runId = await failedOn(engine)
const hiddenId = await failedOn(veiled)

async function opened(path: string) {
  const page = await reusePage(engine.url)
  await page.goto(`${engine.url}/console/n/default/${path}`)
  await page.locator('h1').waitFor()
  return page
}
const clipboard = 'navigator.clipboard.readText()'

test('Space looks at a row and pins it; Esc closes it, then clears the selection, then nothing', async () => {
  const page = await opened('runs')
  await page.getByRole('row', { name: /order/ }).first().waitFor()
  await page.locator('h1').focus()
  for (const key of ['j', 'x', 'Space']) await page.keyboard.press(key)
  const peek = page.getByRole('complementary', { name: 'Preview of the run' })
  await peek.getByText('card 4711 was refused').waitFor()
  await peek.getByText('ada@example.com').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await peek.waitFor({ state: 'detached' })
  await page.getByText('1 run selected').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('1 run selected').waitFor({ state: 'detached' })
})

test('the pointer looks at a row while it rests there', async () => {
  const page = await opened('runs')
  const row = page.getByRole('row', { name: /order/ }).first()
  await row.hover()
  const peek = page.getByRole('complementary', { name: 'Preview of the run' })
  await peek.getByText('card 4711 was refused').waitFor()
  await page.locator('h1').hover()
  await peek.waitFor({ state: 'detached' })
})

test('the menu of a row acts after a question that has the focus on Keep, and copies commands', async () => {
  const page = await opened('runs?status=failed')
  await page.getByRole('row', { name: /order/ }).first().waitFor()
  await page.locator('h1').focus()
  for (const key of ['j', '.']) await page.keyboard.press(key)
  await page.getByRole('menuitem', { name: 'Copy as perdure' }).click()
  await expect.poll(() => page.evaluate(clipboard)).toBe(`perdure runs get ${runId}`)
  await page.keyboard.press('.')
  await page.keyboard.press('Escape')
  // The focused row has its button among the tab stops, after its checkbox and its link.
  for (const key of ['Tab', 'Tab', 'Tab', 'Enter']) await page.keyboard.press(key)
  await page.getByRole('menuitem', { name: /Replay/ }).press('Enter')
  await page.getByRole('dialog').getByText('starts again as a new run').waitFor()
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel')
  await page.getByText('Show CLI / curl').click()
  await page.getByText(`perdure runs replay ${runId}`).waitFor()
  await page.getByRole('button', { name: 'Replay run' }).click()
  await page.getByText(/The new run is run_/).waitFor()
})

test('the menu of a row opens from its button: under the pointer, and always on the cards of a phone', async () => {
  const page = await opened('runs?status=failed')
  // The peek at the row under the pointer loads while the menu is open.
  const PEEK = /\/peek-[^/]+\.js$/
  const shown = page.getByRole('menu', { name: /^Actions on/ }).waitFor()
  await page.route(PEEK, route => shown.then(() => route.continue()))
  const row = page.getByRole('row', { name: /order/ }).first()
  const button = row.getByRole('button', { name: 'Actions on row 1', exact: true })
  const isSeen = () => page.evaluate("getComputedStyle(document.querySelector('td button[data-menu]')).opacity === '1'")
  await row.waitFor()
  expect(await isSeen()).toBe(false)
  const asked = page.waitForRequest(PEEK)
  await row.hover()
  await asked
  expect(await isSeen()).toBe(true)
  await button.click()
  await shown
  await page.getByRole('menuitem', { name: 'Copy ID' }).click()
  await page.keyboard.press('Escape')
  expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Actions on row 1')
  expect(await axeViolations(page)).toEqual([])
  await page.setViewportSize({ width: 380, height: 800 })
  await page.goto(`${engine.url}/console/n/default/events`)
  const card = page.getByRole('row', { name: /order/ }).first()
  await card.getByRole('button', { name: 'Actions on row 1', exact: true }).click()
  const items = ['OpenEnter', 'Copy link', 'Copy IDc', 'Send a copy…', 'Start a workflow…']
  expect(await page.getByRole('menuitem').allTextContents()).toEqual(items)
  expect(await axeViolations(page)).toEqual([])
})

test('columns, density and views are remembered, and are in the address', async () => {
  const page = await opened('runs?app=x')
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByLabel('Attempt').check()
  await page.getByLabel('Compact rows').check()
  await page.getByRole('button', { name: 'Close' }).click()
  expect(new URL(page.url()).searchParams.get('rows')).toBe('compact')
  expect(new URL(page.url()).searchParams.get('cols')).toContain('attempt')
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByLabel('Save these filters as').fill('of x')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Export and import').click()
  await page.getByRole('button', { name: 'Copy all as JSON' }).click()
  await expect.poll(() => page.evaluate(clipboard)).toContain('"name":"of x"')
  await page.getByLabel('Views as JSON').fill('[{"name": "failed", "query": "status=failed"}]')
  await page.getByRole('button', { name: 'Import' }).click()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('link', { name: 'failed', exact: true }).click()
  expect(new URL(page.url()).search).toBe('?status=failed')
  await page.getByRole('columnheader', { name: 'Attempt' }).waitFor()
})

test('y copies the link, Y one with fixed times, c the id; the menu copies the page as a command', async () => {
  const page = await opened('runs?status=failed&since=24h')
  await page.getByRole('row', { name: /order/ }).first().waitFor()
  await page.locator('h1').focus()
  await page.keyboard.press('y')
  await expect.poll(() => page.evaluate(clipboard)).toContain('since=24h')
  await page.keyboard.press('Y')
  await expect.poll(() => page.evaluate(clipboard)).toMatch(/since=\d{4}-\d\d-\d\dT/)
  expect(page.url()).toBe(await page.evaluate(clipboard))
  await page.keyboard.press('j')
  await page.keyboard.press('c')
  await expect.poll(() => page.evaluate(clipboard)).toMatch(/^run_/)
  await page.getByRole('button', { name: 'Session and help' }).click()
  await page.getByRole('menuitem', { name: 'Copy as curl' }).click()
  await expect.poll(() => page.evaluate(clipboard)).toMatch(/^curl '?http.*runs\?.*status=failed/)
  const url = ((await page.evaluate(clipboard)) as string).replace(/^curl '?|'$/g, '')
  expect(await (await fetch(url)).json()).toContainEqual(expect.objectContaining({ id: runId, status: 'failed' }))
})

test('hidden payloads are shapes, in this browser', async () => {
  const page = await opened(`runs/${runId}?tab=io`)
  await page.getByText('ada@example.com').first().waitFor()
  await page.getByRole('button', { name: 'Session and help' }).click()
  await page.getByRole('menuitem', { name: 'Hide payloads' }).click()
  await page.getByText('string(15)').first().waitFor()
  expect(await page.content()).not.toContain('ada@example.com')
  expect(await page.getByRole('button', { name: 'Edit and replay' }).getAttribute('title')).toBe('payloads are hidden')
})

test('an engine hides them for everyone', async () => {
  const page = await openPage(veiled.url)
  await page.goto(`${veiled.url}/console/n/default/runs/${hiddenId}?tab=io`)
  await page.getByText('string(15)').first().waitFor()
  expect(await page.content()).not.toContain('ada@example.com')
})
