// The tabs of a run on a laptop and on a phone: no word is broken, numbers are at the end of their cells, and texts from
// outside do not change the order of the page's own texts. And its attributes, which lead to the runs that have them.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../../kit/browser/page.ts'
import { flow, openEngine, run, unique } from '../../kit/index.ts'

const { api, url, runner } = await openEngine()
/** A text as long as the widest one in a table. */
const MESSAGE = `تم رفض البطاقة 4711 (card) 12.5 ${'x'.repeat(150)}`
const STEP = 'شحن البطاقة'
const app = unique('shop')
const name = unique('order')
const refuse = () => {
  throw Object.assign(new Error(MESSAGE), { retriable: false })
}
await runner({
  app,
  workflows: {
    [name]: {
      handler: flow([run('reserve-stock'), run(STEP, refuse)]),
      registration: { retry: { maxAttempts: 1 }, attributes: { customer: 'event.data.customer' } },
    },
  },
})
const { runId } = await api.send({ name, app, data: { customer: 'acct-17' } })
await api.failed(runId)

async function opened(tab: string, width: number): Promise<Page> {
  const page = await reusePage(url, { width })
  await page.goto(`${url}/console/n/default/runs/${runId}?${tab}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  return page
}

/** Heads and number cells that take more than one line, or whose text is not at the end. */
const BROKEN = `(() => {
  const cells = [...document.querySelectorAll('main table :is(th[scope=col], td[data-align])')]
  return cells.filter(each => {
    const range = document.createRange()
    range.selectNodeContents(each)
    const [cell, text] = [each.getBoundingClientRect(), range.getBoundingClientRect()]
    const isAtEnd = cell.right - text.right < 12
    return text.height > 24 || (each.dataset.align === 'end' && text.width > 0 && !isAtEnd)
  }).map(each => each.textContent)
})()`

test.each([
  ['tab=passes', 'Passes of the run', ['Sent at', 'Duration', 'Attempt']],
  ['as=table', 'Steps of the run', ['Attempt', 'Started at', 'Duration']],
])('the table of %s breaks no word, and has its numbers at the end', async (tab, label, numbers) => {
  for (const width of [1280, 700, 380]) {
    const page = await opened(tab, width)
    const table = page.getByRole('table', { name: label })
    await table.getByRole('row', { name: /reserve-stock/ }).waitFor()
    expect(await page.evaluate<string[]>(BROKEN), `at ${width}`).toEqual([])
    expect(await page.evaluate('document.querySelector("main").scrollWidth'), `at ${width}`).toBeLessThanOrEqual(width)
    const ends = await table.locator('th[data-align=end]').allTextContents()
    expect(ends.sort()).toEqual([...numbers].sort())
    expect(await axeViolations(page)).toEqual([])
  }
})

test('the name of a step and its error are isolated from the sentence around them', async () => {
  const page = await opened('tab=timeline', 1280)
  const sentence = page.getByText('It failed after')
  await sentence.waitFor()
  expect(await sentence.textContent()).toMatch(
    new RegExp(`: .*\\(card\\) 12\\.5 x+ \\(step_failed in step "${STEP}"\\)$`),
  )
  expect(await sentence.locator('bdi').allTextContents()).toEqual([MESSAGE, STEP])
})

test('the attributes of a run lead to the runs that have them; with payloads hidden only their names are shown', async () => {
  const page = await opened('tab=timeline', 1280)
  await page.getByRole('link', { name: 'customer:acct-17' }).click()
  await page.waitForURL(/\/runs\?attribute=customer:acct-17$/)
  await page.getByRole('link', { name: new RegExp(runId.slice(-8)) }).click()
  await page.getByRole('link', { name: 'customer:acct-17' }).waitFor()
  await page.getByRole('button', { name: 'Session and help' }).click()
  await page.getByRole('menuitem', { name: 'Hide payloads' }).click()
  await page.getByRole('link', { name: 'customer:acct-17' }).waitFor({ state: 'detached' })
  await page.getByText('customer', { exact: true }).waitFor()
})
