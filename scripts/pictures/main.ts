// `npm run pictures`: takes the pictures of the console in docs/images, in light and dark, from an engine and a runner of its own.
// Needs Chromium, as the tests of the console do.

import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createClient } from 'perdure/client'
import { type Browser, chromium } from 'playwright-core'
import { startEngine, startRunner } from '../../examples/shared/processes.ts'
import { CHROMIUM } from '../../test/kit/browser/chromium.ts'

const FOLDER = fileURLToPath(new URL('../../docs/images/', import.meta.url))
const VIEWPORT = { width: 1440, height: 900 }
/** Long enough for the first orders to wait for their approval and for the refused ones to fail. */
const SETTLE_MS = 6000
/** Long enough for a page to have read everything. */
const PAGE_MS = 1500

const engine = await startEngine()
const runner = await startRunner(new URL('./runner.ts', import.meta.url), { ENGINE_URL: engine.url })
try {
  mkdirSync(FOLDER, { recursive: true })
  const pages = await fill()
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  for (const scheme of ['light', 'dark'] as const) await take(browser, scheme, pages)
  await browser.close()
} finally {
  await runner.stop()
  await engine.stop()
}

/** Makes the runs, and answers the path of the page of each picture. */
async function fill(): Promise<Record<string, string>> {
  const client = createClient({ url: engine.url })
  const send = (name: string, data: unknown) => client.sendEvent({ body: { name, data } })
  const started: string[] = []
  for (let n = 1; n <= 9; n++) {
    const card = n % 3 === 0 ? { card: 'refused' } : {}
    const { runId } = await send('order.placed', { customer: `acct-${10 + (n % 4)}`, total: 20 * n, ...card })
    if (runId !== undefined) started.push(runId)
  }
  const imported = await send('rows.uploaded', { file: 'customers.csv' })
  const synced: string[] = []
  for (let n = 0; n < 12; n++) synced.push((await send('customer.changed', { customer: 'acct-17' })).runId ?? '')
  const offer = await send('offer.wanted', { customer: 'acct-12' })
  await client.putSchedule({
    id: 'weekly-report',
    body: { cron: '0 9 * * 1', timezone: 'Europe/Berlin', event: { name: 'report/weekly' } },
  })
  await new Promise(resolve => setTimeout(resolve, SETTLE_MS))
  const again = await client.replayRun({ id: offer.runId ?? '' })
  await client.pauseRun({ id: synced[11] ?? '' })
  await new Promise(resolve => setTimeout(resolve, PAGE_MS))
  const [newest] = (await client.listEvents({ name: 'order.placed', limit: 1 })).items
  return {
    overview: '/',
    runs: '/runs',
    run: `/runs/${started[0]}`,
    steps: `/runs/${imported.runId}`,
    failed: `/runs/${started[2]}`,
    held: `/runs/${synced[9]}`,
    diff: `/runs/${again.id}?diff=${offer.runId}`,
    workflows: '/workflows',
    workflow: '/workflows/shop/process-order',
    events: '/events',
    event: `/events/${newest?.id}`,
    audit: '/audit',
    send: `/events/send?like=${newest?.id}`,
    schedules: '/schedules',
    limits: '/limits',
    runners: '/runners',
    errors: '/errors',
    engine: '/engine',
  }
}

async function take(browser: Browser, colorScheme: 'light' | 'dark', pages: Record<string, string>): Promise<void> {
  const context = await browser.newContext({ viewport: VIEWPORT, colorScheme, reducedMotion: 'reduce' })
  for (const [name, path] of Object.entries(pages)) {
    const page = await context.newPage()
    await page.goto(`${engine.url}/console/n/default${path}`)
    await page.locator('h1').waitFor()
    await page.waitForTimeout(PAGE_MS)
    await page.screenshot({ path: `${FOLDER}console-${name}-${colorScheme}.png` })
    await page.close()
  }
  await context.close()
}
