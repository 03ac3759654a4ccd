// The console's budgets that are counts (docs/benchmarks.md#the-console): requests until the first list is shown, requests of an
// idle open page, and listeners and streams after many page changes.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openFrameServer } from '../kit/browser/frame-server.ts'
import { checkLeaks } from '../kit/browser/leaks.ts'
import { openPage } from '../kit/browser/page.ts'
import { flow, onCleanup, openEngine, returned, run, unique, until } from '../kit/index.ts'

const REQUESTS_MAX = 8

const engine = await openEngine()
const name = unique('order')
await engine.runner({ workflows: { [name]: () => returned(1), steps: flow([run('a', () => 1)]) } })
const sent = await Promise.all(Array.from({ length: 20 }, () => engine.api.send({ name })))
for (const { runId } of sent) await engine.api.succeeded(runId)

/** A server that counts the requests of pages and workers and passes all of them on. */
async function counted() {
  const server = await openFrameServer(engine.url, { leavesStream: true })
  onCleanup(() => server.close())
  return server
}

/** Runs in the page: records when the first row is in the document. */
const NOTE_FIRST_ROW = `new MutationObserver((_, observer) => {
  if (!document.querySelector('tbody tr[data-key]')) return
  window.shownAt = Date.now()
  observer.disconnect()
}).observe(document, { subtree: true, childList: true })`

/** The kinds of requests: names of files without their hashes, paths without queries. */
const kindOf = (line: string) =>
  line
    .replace(/^GET /, '')
    .replace(/\?.*/, '')
    .replace(/-[\w-]{8}\./, '.')

test.each([1280, 1600])('the first list takes at most eight requests, at a width of %i', async width => {
  const server = await counted()
  const page = await openPage(server.url, { width })
  await page.addInitScript({ content: NOTE_FIRST_ROW })
  await page.goto(`${server.url}/console/n/default/runs`)
  await page.getByRole('row', { name }).nth(19).waitFor()
  const shownAt = await page.evaluate<number>('window.shownAt')
  const first = server.requests.filter(({ at }) => at < shownAt).map(({ line }) => kindOf(line))
  expect(first).toContain('/runs')
  expect(first.length, first.join(' ')).toBeLessThanOrEqual(REQUESTS_MAX)
  // The stream is opened then, and the list is read once more, to get the changes in between.
  await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
  const lines = () => server.requests.map(({ line }) => kindOf(line))
  await until(() => lines().filter(line => line === '/runs').length === 2, { what: 'the second read' })
  expect(lines().filter(line => line === '/stream')).toEqual(['/stream'])
  expect(lines()).not.toContain('/workflows')
})

test('the first list is asked for before the engine has said who reads', async () => {
  const page = await openPage(engine.url)
  const asked = new Promise(resolve => {
    page.on('request', request => new URL(request.url()).pathname === '/runs' && resolve(undefined))
  })
  await page.route('**/whoami', async route => {
    await asked
    await route.continue()
  })
  await page.goto(`${engine.url}/console/n/default/runs`)
  await page.getByRole('row', { name }).nth(19).waitFor()
})

const IDLE_PAGES = [
  '',
  'runs',
  `runs/${sent[0]?.runId}`,
  'workflows',
  'events',
  `events/${sent[0]?.eventId}`,
  'events/send',
  'schedules',
  'limits',
  'runners',
  'errors',
  'webhooks/deliveries',
  'webhooks/endpoints',
  'webhooks/receivers',
  'audit',
  'keys',
  'engine',
  'bulk',
]

/** The page's unanswered reads, and all its reads, without the files and the worker's stream. */
function followReads(page: Page) {
  const open = new Set<unknown>()
  const all: string[] = []
  page.on('request', request => {
    const path = new URL(request.url()).pathname
    if (path.startsWith('/console/') || path === '/stream') return
    open.add(request)
    all.push(request.url())
  })
  page.on('requestfinished', request => open.delete(request))
  page.on('requestfailed', request => open.delete(request))
  return { open, all }
}

test('open pages that nobody touches read nothing in three minutes', async () => {
  const page = await openPage(engine.url)
  const reads = followReads(page)
  await page.clock.install()
  const read: Record<string, string[]> = {}
  for (const path of IDLE_PAGES) {
    await page.goto(`${engine.url}/console/n/default/${path}`)
    await page.locator('h1').waitFor()
    const busy = page.locator('[aria-busy]')
    await until(async () => (await busy.count()) === 0 && reads.open.size === 0, {
      what: `the page /${path}`,
      deadlineMs: 15_000,
    })
    await settled(page, reads)
    const before = reads.all.length
    await page.clock.runFor('03:00')
    read[path] = reads.all.slice(before)
  }
  expect(read).toEqual(Object.fromEntries(IDLE_PAGES.map(path => [path, []])))
})

/** A page is settled after this much real time without a read. The stream has opened before. */
const QUIET_MS = 400

/**
 * A page follows live data a moment after it opens, and then reads its lists again. Its stream opens in real time, which the
 * page's clock does not control.
 */
async function settled(page: Page, reads: ReturnType<typeof followReads>): Promise<void> {
  let [count, since] = [-1, 0]
  await until(
    async () => {
      await page.clock.runFor('00:05')
      if (reads.open.size > 0 || reads.all.length !== count) since = performance.now()
      count = reads.all.length
      return performance.now() - since > QUIET_MS
    },
    { deadlineMs: 20_000, what: `quiet on ${page.url()}` },
  )
}

test('changes of the page leave no listener, node or stream behind', async () => {
  const server = await counted()
  const page = await openPage(server.url)
  await page.goto(`${server.url}/console/n/default/runs`)
  await checkLeaks(page, () => visit(page))
  await until(() => server.streams === 1, { what: 'one stream' })
})

/** From the list to a run, to the workflows, and back to the list. */
async function visit(page: Page): Promise<void> {
  await page.getByRole('row', { name }).first().waitFor()
  await page.locator('h1').focus()
  for (const key of ['j', 'Enter']) await page.keyboard.press(key)
  await page.getByText('It succeeded after').waitFor()
  for (const key of ['g', 'w']) await page.keyboard.press(key)
  await page.getByRole('heading', { level: 1, name: 'Workflows' }).waitFor()
  for (const key of ['g', 'r']) await page.keyboard.press(key)
  await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor()
}
