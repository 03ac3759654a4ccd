// Runners with long names and addresses: both are shown in full, on a laptop and on a phone, and keys still move over rows of
// different heights.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations, reusePage } from '../../kit/browser/page.ts'
import { openEngine, unique } from '../../kit/index.ts'

const { api, url } = await openEngine()
const ADDRESS = `https://runner-7f9c6d5b8-x2x4k.production.svc.cluster.local:8443/${'a-long-path/'.repeat(12)}invoke`

async function register(app: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const facts = { sdkName: 'perdure', version: '0.9.1', runtime: 'node', framework: 'hono', region: 'eu-central-1' }
    const keyFingerprint = '0123456789abcdef'
    const { status } = await api.post('/register', {
      app,
      runner: `runner-of-the-warehouse-in-the-north-${String(i).padStart(3, '0')}`,
      url: `${ADDRESS}?${i}`,
      protocolVersion: 1,
      workflows: [{ name: 'pack', triggers: [{ event: 'pack' }] }],
      keyFingerprint,
      ...facts,
    })
    expect(status).toBe(200)
  }
}

async function opened(app: string): Promise<Page> {
  const page = await reusePage(url)
  await page.goto(`${url}/console/n/default/runners?app=${app}`)
  await page.getByRole('row', { name: /-000/ }).waitFor()
  return page
}

/** The names of the parts that are cut in the table, and the heads that have no room. */
const CUT = `(() => {
  const shown = [...document.querySelectorAll('main table :is(td, th):not([data-menu])')].filter(each => each.checkVisibility())
  return shown
    .filter(each => each.scrollWidth > each.clientWidth + 1 || each.scrollHeight > each.clientHeight + 1 || each.clientWidth < 40)
    .map(each => each.tagName + ' ' + each.textContent)
})()`

/** The end of the focused row's name, and whether the row is on the screen below the heads. */
const ACTIVE = `(() => {
  const row = document.activeElement
  const { top, bottom } = row.getBoundingClientRect()
  const headBottom = row.closest('table')?.tHead.getBoundingClientRect().bottom
  return { name: row.dataset.key?.slice(-4), isSeen: top >= headBottom - 1 && bottom <= innerHeight }
})()`

test('the name and the address of a runner are whole, with all that is known of it', async () => {
  const app = unique('warehouse')
  await register(app, 2)
  const page = await opened(app)
  for (const width of [1280, 1920, 640, 380]) {
    await page.setViewportSize({ width, height: 900 })
    await page.evaluate('new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
    expect(await page.evaluate<string[]>(CUT), `at ${width}`).toEqual([])
    expect(await page.evaluate('document.querySelector("main").scrollWidth'), `at ${width}`).toBeLessThanOrEqual(width)
    const row = page.getByRole('row', { name: /-001/ })
    await row.getByText(`${ADDRESS}?1`, { exact: true }).waitFor()
    await row.getByText('HTTP · perdure 0.9.1 · node · hono · eu-central-1').waitFor()
    expect(await axeViolations(page), `at ${width}`).toEqual([])
  }
})

test('rows of other heights are all there, and the one that the keys move to is on the screen', async () => {
  const app = unique('warehouse')
  await register(app, 40)
  const page = await opened(app)
  expect(await page.locator('main tr[data-key]').count()).toBe(40)
  await page.locator('h1').focus()
  for (let i = 0; i < 30; i++) await page.keyboard.press('j')
  await expect.poll(() => page.evaluate(ACTIVE)).toEqual({ name: '-029', isSeen: true })
  for (let i = 0; i < 20; i++) await page.keyboard.press('k')
  await expect.poll(() => page.evaluate(ACTIVE)).toEqual({ name: '-009', isSeen: true })
})
