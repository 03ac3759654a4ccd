// No page of the console violates accessibility rules: every route, in light and dark, with rows, without rows, and when its
// reads fail.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { ROUTES, type RouteName } from '../../packages/console/src/router/routes.ts'
import { axeViolations, goTo, loaded, openPage } from '../kit/browser/page.ts'
import { NONE, openShop } from '../kit/browser/shop.ts'
import { openEngine } from '../kit/index.ts'

const [{ engine, token, paths }, empty] = [await openShop(), await openEngine()]
const ALL = Object.keys(ROUTES) as RouteName[]
/** Pages that read nothing until the user acts. */
const WITHOUT_READS: readonly RouteName[] = ['bundle', 'sendEvent', 'keys']
const REASON = 'the reads of this page fail'

async function signedIn(expected: readonly string[] = []): Promise<Page> {
  const page = await openPage(engine.url, { expected })
  await page.addInitScript({ content: `sessionStorage.setItem('perdure.session.default', '${token}')` })
  return page
}

async function show(page: Page, url: string): Promise<void> {
  await goTo(page, url)
  await loaded(page)
}

/** All rules in light, only the color rules in dark, because nothing else differs. */
async function violations(page: Page): Promise<Record<string, string[]>> {
  const light = await axeViolations(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await axeViolations(page, COLOR_RULES)
  await page.emulateMedia({ colorScheme: 'light' })
  return { light, dark }
}

const COLOR_RULES = ['color-contrast', 'link-in-text-block']
const NO_VIOLATION = { light: [], dark: [] }

// One page shows all routes: a separate page for each would take longer than the checks.

test('every page with rows', async () => {
  const page = await signedIn()
  for (const route of ALL) {
    await show(page, `${engine.url}/console${paths[route]}`)
    expect(await page.getByText('There is no page at this URL').count(), route).toBe(0)
    expect(await page.getByRole('alert').filter({ hasText: /\w/ }).allTextContents(), route).toEqual([])
    expect(await violations(page), route).toEqual(NO_VIOLATION)
  }
})

test('every page of an empty engine', async () => {
  const page = await openPage(empty.url)
  for (const route of Object.keys(NONE) as (keyof typeof NONE)[]) {
    await show(page, `${empty.url}/console${paths[route]}`)
    expect(await violations(page), route).toEqual(NO_VIOLATION)
  }
})

test('every page when its reads fail', async () => {
  const page = await signedIn(['status of 400'])
  await page.route(
    url => !/^\/(console|whoami|stream)/.test(url.pathname),
    answer => answer.fulfill({ status: 400, contentType: 'application/json', body: PROBLEM }),
  )
  for (const route of ALL) {
    await show(page, `${engine.url}/console${paths[route]}`)
    if (!WITHOUT_READS.includes(route)) await page.getByText(REASON).first().waitFor()
    expect(await violations(page), route).toEqual(NO_VIOLATION)
  }
})

const PROBLEM = JSON.stringify({ error: { code: 'invalid_request', message: REASON, requestId: 'req_test' } })
