// Scripts that an open page loads later, and that the engine no longer has, because an engine of another build replaced it.

import type { Page, Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations, openPage, reusePage } from '../../kit/browser/page.ts'
import { openEngine, until } from '../../kit/index.ts'

const { url } = await openEngine()

/**
 * Opens the list of runs. Between `lose` and `find`, `answer` answers requests to `paths`. Interception starts before the page: a
 * browser that is already loading scripts does not always intercept the next ones.
 */
async function openRuns(page: Page, paths: string | RegExp, answer: (route: Route) => Promise<void>) {
  let isLost = false
  await page.route(paths, route => (isLost ? answer(route) : route.continue()))
  await page.goto(`${url}/console/n/default/runs`)
  await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor()
  return {
    lose: () => {
      isLost = true
    },
    find: () => {
      isLost = false
    },
  }
}

test('a page whose script did not come while the engine was away is there as soon as the engine is', async () => {
  const page = await openPage(url, {
    expected: ['ERR_CONNECTION_REFUSED', 'dynamically imported module', 'preload CSS'],
  })
  await page.clock.install()
  const { lose, find } = await openRuns(page, '**/*', route => route.abort('connectionrefused'))
  lose()
  await page.getByRole('link', { name: 'Limits' }).click()
  const notice = page.locator('[data-page]').getByRole('alert')
  await notice.getByText('The page loads as soon as it does').waitFor()
  expect(await notice.getByRole('button').count()).toBe(0)
  await page.clock.pauseAt(Date.now() + 60_000)
  const again = page.getByRole('button', { name: 'Retry now' })
  // An attempt under way plans the next one only when it fails.
  const isOffered = async () => {
    await page.clock.runFor(1000)
    return again.isVisible()
  }
  await until(isOffered, { what: 'the button' })
  // The page does not look for the engine again before the button is pressed: time stands still.
  find()
  await again.click()
  await page.clock.resume()
  await page.getByRole('heading', { level: 1, name: 'Limits' }).waitFor()
})

test('a page or dialog whose script is gone says so and offers to load anew; the rest goes on', async () => {
  const page = await reusePage(url, { expected: ['404', 'dynamically imported module'] })
  const { lose, find } = await openRuns(page, /\/assets\/.*\.js$/, route => route.fulfill({ status: 404 }))
  lose()
  const lost = page.getByRole('alert').filter({ hasText: 'updated after this page was opened' })

  await page.keyboard.press('?')
  await lost.waitFor()
  expect(await page.getByRole('heading', { level: 1, name: 'Runs' }).isVisible()).toBe(true)
  expect(await axeViolations(page)).toEqual([])

  await page.getByRole('link', { name: 'Limits' }).click()
  await page.waitForURL(/\/limits$/)
  await page.locator('[data-page]').getByRole('alert').waitFor()
  find()
  await page.locator('[data-page]').getByRole('button', { name: 'Reload' }).click()
  await page.getByRole('heading', { level: 1, name: 'Limits' }).waitFor()
  expect(await lost.count()).toBe(0)
})

test('the notice of a dialog whose script is gone is closed by Esc and by its button; the page keeps its shortcuts', async () => {
  const page = await reusePage(url, { expected: ['404', 'dynamically imported module'] })
  const { lose } = await openRuns(page, /\/assets\/.*\.js$/, route => route.fulfill({ status: 404 }))
  lose()
  const lost = page.getByRole('alert').filter({ hasText: 'updated after this page was opened' })

  await page.keyboard.press('?')
  await lost.waitFor()
  await page.keyboard.press('Escape')
  await lost.waitFor({ state: 'detached' })

  await page.keyboard.press('?')
  const close = lost.getByRole('button', { name: 'Close' })
  await close.focus()
  await page.keyboard.press('Enter')
  await lost.waitFor({ state: 'detached' })
  expect(await page.evaluate('document.activeElement.id')).toBe('main')

  // The notice of a page cannot be closed, because there is nothing below it.
  await page.getByRole('link', { name: 'Limits' }).click()
  const ofPage = page.locator('[data-page]').getByRole('alert')
  await ofPage.waitFor()
  expect(await ofPage.getByRole('button').allTextContents()).toEqual(['Reload'])
})
