// `npm run pictures`: takes the pictures of the console in docs/images, in light and dark, from an engine and a runner of its own.
// Needs Chromium, as the tests of the console do.

import { mkdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createClient } from 'perdure/client'
import { chromium, type Page } from 'playwright-core'
import { startEngine, startRunner } from '../../examples/shared/processes.ts'
import { CHROMIUM } from '../../test/kit/browser/chromium.ts'
import { fill, type Picture, SECRET_KEY } from './fill.ts'
import { writeHistory } from './history.ts'

const FOLDER = process.env.PICTURES ?? fileURLToPath(new URL('../../docs/images/', import.meta.url))
const VIEWPORT = { width: 1440, height: 900 }
const BYTES_MAX = 300_000
const SCHEMES = ['light', 'dark'] as const
type Scheme = (typeof SCHEMES)[number]
/** Long enough for a page to have begun its reads. */
const PAGE_MS = 1500

const engine = await startEngine({
  ENGINE_API_KEYS: JSON.stringify([{ label: 'ada', namespace: 'default', kind: 'secret', key: SECRET_KEY }]),
})
await engine.restart(() => writeHistory(engine.storeFile))
const env = { ENGINE_URL: engine.url, ENGINE_API_KEY: SECRET_KEY }
const runner = await startRunner(new URL('./runner.ts', import.meta.url), env)
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
const client = createClient({ url: engine.url, apiKey: SECRET_KEY })
try {
  mkdirSync(FOLDER, { recursive: true })
  const { pictures, close } = await fill(client, engine.url)
  const pages = { light: await opened('light'), dark: await opened('dark') }
  for (const [name, picture] of Object.entries(pictures)) {
    for (const scheme of SCHEMES) await take(pages[scheme], picture, `${FOLDER}/console-${name}-${scheme}.png`)
  }
  close()
} finally {
  await browser.close()
  // No run takes the place of the one that ends with the runner.
  await client.pauseWorkflow({ app: 'shop', name: 'sync-customer' })
  await runner.stop()
  await engine.stop()
}

/** A page of its own in each theme, on which the actions are unlocked. */
async function opened(colorScheme: Scheme): Promise<Page> {
  const context = await browser.newContext({ viewport: VIEWPORT, colorScheme, reducedMotion: 'reduce' })
  return unlocked(await context.newPage())
}

async function take(page: Page, { path, act }: Picture, file: string): Promise<void> {
  // The address changes without a load, which would lock the actions.
  await page.evaluate(
    `history.pushState(null, '', '/console/n/default${path}'); dispatchEvent(new PopStateEvent('popstate'))`,
  )
  await read(page)
  await act?.(page)
  await read(page)
  await page.screenshot({ path: file })
  const { size } = statSync(file)
  if (size > BYTES_MAX) throw new Error(`${file} has ${size} bytes, over the bound of ${BYTES_MAX}`)
}

/** Waits until the page has read everything, with the pointer where it changes nothing. */
async function read(page: Page): Promise<void> {
  await page.mouse.move(1, VIEWPORT.height - 1)
  await page.waitForTimeout(PAGE_MS)
  const again = page.getByRole('button', { name: 'Try again' })
  while ((await page.locator('[aria-busy], h1').count()) !== 1 || (await again.count()) > 0) {
    // An engine on a busy machine refuses some reads.
    if ((await again.count()) > 0) await again.first().click()
    await page.waitForTimeout(PAGE_MS)
  }
}

/** Signs in, and unlocks the actions. */
async function unlocked(page: Page): Promise<Page> {
  await page.goto(`${engine.url}/console/n/default/runs`)
  await page.getByLabel('API key').fill(SECRET_KEY)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Unlock' }).click()
  await page.getByLabel('A secret key').fill(SECRET_KEY)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^Lock · / }).waitFor()
  return page
}
