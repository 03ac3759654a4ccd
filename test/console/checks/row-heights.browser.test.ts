// Rows of every list at six widths, from a phone to a laptop, including half a screen (or a screen at 200 % zoom): no row is much
// higher than its texts need, and no column is too narrow to read.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { RouteName } from '../../../packages/console/src/router/routes.ts'
import { goTo, loaded, openPage } from '../../kit/browser/page.ts'
import { NONE, openShop } from '../../kit/browser/shop.ts'

const WIDTHS = [380, 640, 720, 860, 960, 1100]
const LISTS: readonly RouteName[] = [
  ...(Object.keys(NONE) as (keyof typeof NONE)[]),
  'errorGroup',
  'workflow',
  'bulk',
  'event',
  'endpoint',
  'receiver',
]
/** Realistic names: longer than a column, with places to break. */
const NAMES = {
  workflow: 'synchronise-customers-of-every-region-with-the-accounting-system',
  app: 'fulfilment-backend',
  error:
    'the request was refused by the bank: card 4711 of customer acct-17 has insufficient funds, and nobody knows why',
}

/** Runs in the page: finds rows that are too high and cells that are too narrow, in tables displayed as tables. */
const FAULTS = `(() => {
  const found = []
  for (const row of document.querySelectorAll('main tbody tr')) {
    if (!row.checkVisibility() || row.closest('figure') || row.matches(':not([data-key]):has(> td[colspan])')) continue
    const { height } = row.getBoundingClientRect()
    const isCard = getComputedStyle(row).display === 'flex'
    const most = isCard ? 360 : 150
    if (height > most) found.push('a ' + (isCard ? 'card' : 'row') + ' of ' + Math.round(height) + ' px: ' + row.textContent.slice(0, 60))
    if (isCard) continue
    for (const cell of row.cells) {
      const wide = cell.getBoundingClientRect().width
      if (cell.textContent.length > 6 && wide < 60) found.push('a column of ' + Math.round(wide) + ' px: ' + cell.textContent.slice(0, 60))
    }
  }
  return found
})()`

async function faultsAt(page: Page, width: number): Promise<string[]> {
  await page.setViewportSize({ width, height: 900 })
  await page.evaluate('new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  return page.evaluate<string[]>(FAULTS)
}

test('rows of lists are readable at every width', { timeout: 300_000 }, async () => {
  const { engine, token, paths } = await openShop(NAMES)
  const page = await openPage(engine.url)
  await page.addInitScript({ content: `sessionStorage.setItem('perdure.session.default', '${token}')` })
  const faults: string[] = []
  for (const route of LISTS) {
    await goTo(page, `${engine.url}/console${paths[route]}`)
    await loaded(page)
    for (const width of WIDTHS)
      faults.push(...(await faultsAt(page, width)).map(fault => `${route} at ${width}: ${fault}`))
  }
  expect(faults).toEqual([])
})
