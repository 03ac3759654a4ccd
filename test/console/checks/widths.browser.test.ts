// Pages on a phone, a laptop and a wide screen, with long names, names without a space and right-to-left names: no page is wider
// than its window, no control is outside it, and controls are large enough for a finger.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { ROUTES, type RouteName } from '../../../packages/console/src/router/routes.ts'
import { goTo, loaded, openPage } from '../../kit/browser/page.ts'
import { openShop, type ShopNames } from '../../kit/browser/shop.ts'
import { controlsTooSmall } from '../../kit/browser/targets.ts'

const ALL = Object.keys(ROUTES) as RouteName[]
/** Widths of windows, in pixels. */
const WIDTHS = [380, 720, 960, 1024, 1280, 1920]
const LONG: ShopNames = {
  workflow: `synchronise-customers-${'of-every-region-'.repeat(7)}`,
  app: `shop-${'x'.repeat(50)}`,
  error: `the request ${'was-refused-by-the-bank-'.repeat(20)} and nobody knows why`,
}
const RIGHT_TO_LEFT: ShopNames = {
  workflow: 'معالجة الطلبات القادمة من المتجر',
  app: 'متجر',
  error: 'تم رفض البطاقة 4711 من قبل البنك (card) 12.5',
}

/**
 * Runs in the page: finds parts that are wider than the window or outside of it, and texts from right to left that are cut at
 * their beginning. Texts that are cut with an ellipsis, and parts that scroll sideways by themselves, may be wider.
 */
const OUTSIDE = `(() => {
  const found = []
  const mayBeWider = element => {
    for (let each = element.parentElement; each && each.tagName !== 'MAIN'; each = each.parentElement) {
      const { overflowX, textOverflow } = getComputedStyle(each)
      if (/auto|scroll/.test(overflowX) || textOverflow === 'ellipsis') return true
    }
    return false
  }
  const wide = element => element.scrollWidth > element.clientWidth + 1
  for (const element of [document.documentElement, document.body, document.querySelector('main')])
    if (element && wide(element)) found.push(element.tagName + ' is ' + element.scrollWidth + ' wide, not ' + element.clientWidth)
  for (const panel of document.querySelectorAll('main section'))
    // The hidden table of a chart may be wider.
    if (wide(panel) && !panel.querySelector('figure')) found.push('the panel ' + panel.ariaLabel + ' cuts what is in it')
  for (const button of document.querySelectorAll('main td button')) {
    const [inner, outer] = [button, button.closest('td')].map(each => each.getBoundingClientRect())
    if (inner.height > 0 && (inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1)) found.push('a cell cuts ' + button.textContent)
  }
  // Rows that are as high as their texts cut no text, and no table cuts the head of a column.
  for (const cell of document.querySelectorAll('main th, main [data-scroller] td'))
    if (wide(cell) && cell.checkVisibility()) found.push('a cell cuts ' + cell.textContent)
  for (const element of document.querySelectorAll('main :is(button, a, input, select, textarea, h1, h2, [role=tab])')) {
    const { left, right, width } = element.getBoundingClientRect()
    if (width <= 1 || mayBeWider(element) || !element.checkVisibility()) continue
    if (left < -1 || right > innerWidth + 1) found.push(element.outerHTML.slice(0, 120) + ' from ' + Math.round(left) + ' to ' + Math.round(right))
  }
  for (const element of document.querySelectorAll('main *')) {
    const { textOverflow, unicodeBidi } = getComputedStyle(element)
    if (textOverflow === 'ellipsis' && unicodeBidi !== 'plaintext' && /[\\u0590-\\u08ff]/.test(element.textContent))
      found.push('the beginning is cut of ' + element.outerHTML.slice(0, 120))
  }
  return found
})()`

async function open(page: Page, url: string): Promise<void> {
  await goTo(page, url)
  await loaded(page)
}

async function faultsAt(page: Page, width: number): Promise<string[]> {
  await page.setViewportSize({ width, height: 900 })
  // One frame later, a table draws as many rows as fit into its window.
  await page.evaluate('new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  const outside = await page.evaluate<string[]>(OUTSIDE)
  // Controls have two sizes: for a finger and for a pointer.
  return width === 380 || width === 1280 ? [...outside, ...(await controlsTooSmall(page))] : outside
}

const [long, rightToLeft] = [await openShop(LONG), await openShop(RIGHT_TO_LEFT)]

test.each([
  ['long names', long],
  ['names from right to left', rightToLeft],
])('every page is as wide as its window, with %s', { timeout: 300_000 }, async (_, { engine, token, paths }) => {
  const page = await openPage(engine.url)
  await page.addInitScript({ content: `sessionStorage.setItem('perdure.session.default', '${token}')` })
  const faults: string[] = []
  for (const route of ALL) {
    await open(page, `${engine.url}/console${paths[route]}`)
    for (const width of WIDTHS) {
      faults.push(...(await faultsAt(page, width)).map(fault => `${route} at ${width}: ${fault}`))
    }
  }
  expect(faults).toEqual([])
})

test('an element that is too wide is found, and a control that is too small beside another', async () => {
  const { engine, token, paths } = rightToLeft
  const page = await openPage(engine.url)
  await page.addInitScript({ content: `sessionStorage.setItem('perdure.session.default', '${token}')` })
  await open(page, `${engine.url}/console${paths.overview}`)
  expect(await faultsAt(page, 1280)).toEqual([])
  await page.evaluate(`document.querySelector('h1').style.minWidth = '1400px'`)
  expect(await page.evaluate<string[]>(OUTSIDE)).toContainEqual(expect.stringMatching(/^<h1/))
  expect(await controlsTooSmall(page)).toEqual([])
  const tabs = `document.querySelectorAll('header button')`
  await page.evaluate(
    `for (const each of ${tabs}) Object.assign(each.style, { minHeight: 0, height: '10px', minWidth: 0, width: '10px', padding: 0 })`,
  )
  expect(await controlsTooSmall(page)).toContainEqual(expect.stringMatching(/ is 10 by 10, beside <button/))
  await open(page, `${engine.url}/console${paths.errors}`)
  await page.evaluate(`document.querySelector('main th').textContent = 'x'.repeat(400)`)
  expect(await page.evaluate<string[]>(OUTSIDE)).toContainEqual(expect.stringMatching(/^a cell cuts x+/))
})
