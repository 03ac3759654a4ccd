// Journeys over stores of many runs: filters, a search that continues past its time limit, the way back to a place far down the
// list; a bulk job that is followed, stopped midway and repeated. The first store has a million runs when every test is to run,
// or as many as `PERDURE_TEST_RUNS` says.

import type { BulkDetail, ControlAction } from '@perdure/protocol'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../../packages/engine/src/adapters/sql/sqlite/store.ts'
import type { RunStatus } from '../../packages/engine/src/domain/model/run.ts'
import type { Store } from '../../packages/engine/src/ports/store.ts'
import { axeViolations, openPage } from '../kit/browser/page.ts'
import { seedRuns } from '../kit/engine/seed-runs.ts'
import { gate, onCleanup, openEngine, until } from '../kit/index.ts'
import { isNight } from '../part.ts'

const PATIENCE = { timeout: 30_000 }
const RUNS_QUICK = 20_000
const RUNS = Number(process.env.PERDURE_TEST_RUNS ?? (isNight ? 1_000_000 : RUNS_QUICK))
/** It takes minutes to write a million runs. */
const LONG = RUNS > RUNS_QUICK ? { timeout: 1_200_000 } : {}
const WORKFLOWS = 8
/** Runs whose input contains the searched text, spread over the whole time. */
const RARE = 30
const RARE_EVERY = Math.floor(RUNS / RARE)

function statusOf(i: number): RunStatus {
  if (i % 20 === 7) return 'failed'
  if (i % 50 === 11) return 'cancelled'
  return i % 100 === 13 ? 'waiting' : 'succeeded'
}

/** Requests of the list, without the counts and peeks next to it. */
function listReads(page: Page): URL[] {
  const reads: URL[] = []
  page.on('request', request => {
    const url = new URL(request.url())
    if (url.pathname === '/runs') reads.push(url)
  })
  return reads
}

const SLOW_FRAMES = `{
  const next = requestAnimationFrame
  window.requestAnimationFrame = callback => setTimeout(() => next(callback), 300)
}`

const rowsOf = (page: Page) => page.locator('tbody tr[data-key]')

async function filter(page: Page, text: string): Promise<void> {
  await page.locator('h1').focus()
  await page.keyboard.press('f')
  await page.keyboard.type(text)
  await page.keyboard.press('Enter')
}

/** Records how long each part of a journey took. */
function stopwatch() {
  const parts: string[] = []
  let from = performance.now()
  const lap = (part: string) => {
    const now = performance.now()
    parts.push(`${part} ${((now - from) / 1000).toFixed(1)} s`)
    from = now
  }
  return { lap, parts }
}

test('among many runs: filters, a search that goes on, and the way back to a place far down', LONG, async () => {
  const { lap, parts } = stopwatch()
  const storeFile = await seedRuns(RUNS, i => ({
    status: statusOf(i),
    workflow: `sync-${i % WORKFLOWS}`,
    app: `app-${i % 3}`,
    ...(i % RARE_EVERY === 1 && i < RARE * RARE_EVERY ? { input: JSON.stringify({ order: i, note: 'A-4711' }) } : {}),
  }))
  lap('written in')
  // A search gives up early, so that the suite needs few runs.
  const engine = await openEngine({
    storeFile,
    ...(RUNS <= RUNS_QUICK && { bounds: { ...BOUNDS, http: { partialScanMs: 30 } } }),
  })
  const page = await openPage(engine.url)
  const reads = listReads(page)
  await page.goto(`${engine.url}/console/n/default/runs`)
  await rowsOf(page).nth(10).waitFor()
  await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
  // Once more if the stream opened after the first read.
  await page.waitForTimeout(500)
  expect(reads.length).toBeLessThanOrEqual(2)
  reads.length = 0
  lap('the first list')

  // Qualifiers narrow the list, with one read each time.
  await filter(page, 'workflow:sync-3 status:failed app:app-1')
  await page.waitForURL(/workflow=sync-3/)
  await expect
    .poll(async () => new Set(await rowsOf(page).locator('td:nth-child(3)').allInnerTexts()), PATIENCE)
    .toEqual(new Set(['sync-3']))
  expect(reads).toHaveLength(1)
  for (const [name, value] of Object.entries({ workflow: 'sync-3', status: 'failed', app: 'app-1' }))
    expect(reads[0]?.searchParams.get(name)).toBe(value)
  await filter(page, 'waiting:event since:24h')
  await page.waitForURL(/waiting=event/)
  await expect
    .poll(async () => (await rowsOf(page).allInnerTexts()).every(text => text.includes('waiting')), PATIENCE)
    .toBe(true)
  expect(reads).toHaveLength(2)
  lap('two filters')

  // A search that gave up says how far it came; it continues where it was, until all is found.
  await filter(page, 'A-4711 in:payload')
  const goOn = page.getByRole('button', { name: 'Continue' })
  const found = page.getByText(/^Searched back to \d{4}-\d\d-\d\d .*: (\d+) found\.$/)
  await found.waitFor()
  const counts: number[] = []
  for (let [text] = await found.allInnerTexts(); text !== undefined; [text] = await found.allInnerTexts()) {
    counts.push(Number(/: (\d+) found/.exec(text)?.[1]))
    await goOn.click()
    // Each read gets further back, or is the last.
    await expect.poll(async () => (await found.allInnerTexts())[0], PATIENCE).not.toBe(text)
  }
  expect(counts[0]).toBeLessThan(RARE)
  expect(counts).toEqual([...counts].sort((a, b) => a - b))
  // The count includes the head.
  expect(await page.getByRole('table', { name: 'Runs' }).getAttribute('aria-rowcount')).toBe(String(RARE + 1))
  expect(reads).toHaveLength(2 + 1 + counts.length)
  lap(`a search of all payloads in ${counts.length + 1} reads`)

  // Far down the list, back restores the filter, the place and the row.
  await filter(page, 'status:succeeded')
  await page.waitForURL(/status=succeeded/)
  await rowsOf(page).nth(10).waitFor()
  const before = reads.length
  const scroller = page.locator('[data-scroller]')
  const scrolled = () => scroller.evaluate(element => element.scrollTop)
  for (let at = 1; at <= 20; at++) {
    // The next page is read when the end of the last one is near.
    const scrollTo = () => scroller.evaluate((element, top) => element.scrollTo(0, top), at * 1600)
    await expect.poll(async () => scrollTo().then(scrolled), PATIENCE).toBe(at * 1600)
    await expect.poll(() => rowsOf(page).count()).toBeGreaterThan(20)
  }
  // Each page of 100 rows is read once, and few rows are in the document.
  expect(reads.length - before).toBeLessThanOrEqual(13)
  expect(await rowsOf(page).count()).toBeLessThan(80)
  lap('1,000 rows down')
  // Rows of the place before may still be in the document.
  const row = rowsOf(page).nth(20)
  const isOnScreen = async () => {
    const y = (await row.boundingBox())?.y ?? Number.NaN
    return y > 200 && y < 700
  }
  await expect.poll(isOnScreen, PATIENCE).toBe(true)
  const key = (await row.getAttribute('data-key')) as string
  await page.locator(`tr[data-key="${key}"] td:nth-child(3)`).click()
  await page.getByRole('heading', { level: 1, name: /sync-/ }).waitFor()
  const onLeave = reads.length
  // On a slow page the list is read before the first frame, in which the place is restored.
  await page.evaluate(SLOW_FRAMES)
  await page.goBack()
  await expect.poll(() => page.evaluate('document.activeElement.dataset.key'), PATIENCE).toBe(key)
  expect(Math.abs((await scrolled()) - 32_000)).toBeLessThan(64)
  expect(await page.locator('input[aria-label="Filter runs"]').inputValue()).toBe('status:succeeded')
  // The first page and the rows on the screen are renewed, but not the pages between them.
  const isById = ({ searchParams }: URL) => searchParams.has('ids')
  const renewed = () => reads.slice(onLeave)
  await expect.poll(() => new Set(renewed().map(isById)).size, PATIENCE).toBe(2)
  const others = renewed().filter(url => !isById(url))
  expect(others.map(({ searchParams }) => searchParams.get('cursor'))).toEqual(others.map(() => null))
  // On a slow machine the stream has a gap, and the same is then read once more.
  for (const count of [others.length, renewed().length - others.length]) expect([1, 2]).toContain(count)
  lap('a run and back')
  console.info(`${RUNS.toLocaleString('en-US')} runs: ${parts.join(', ')}`)
})

const BOUNDS = { passesMax: 100, deliveriesMax: 32, timersMax: 32 }
const MATCHING = 1204
/** The job stops here until the test lets it continue. */
const HELD_AFTER = 400
/** One in this many runs cannot be replayed. */
const BROKEN_EVERY = 40

/** The store. Commits of a bulk job wait after some results, and fail for some runs. */
function holding(store: Store, released: Promise<void>, results: Set<string>): Store {
  const isBroken = (runId: string) => Number.parseInt(runId.slice(-3), 36) % BROKEN_EVERY === 0
  const commit: Store['commit'] = async unit => {
    const [recorded] = unit.changes.flatMap(change => (change.type === 'bulkResult.recorded' ? change.result : []))
    if (recorded) {
      if (results.size >= HELD_AFTER) await released
      if (isOn && recorded.outcome === 'done' && isBroken(recorded.runId)) throw new Error('the disk is full')
      results.add(recorded.runId)
    }
    return store.commit(unit)
  }
  return new Proxy(store, {
    get(target, name) {
      if (name === 'commit') return commit
      // The test closes it.
      if (name === 'close') return async () => {}
      const member = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

/** Whether runs fail. */
let isOn = true

test('1,204 runs match: the number is typed, the job is followed, stopped midway, and its failed runs are done again', async () => {
  const app = 'shop'
  const file = await seedRuns(MATCHING + 300, i => ({ status: i < MATCHING ? 'failed' : 'succeeded', app }))
  const store = await openSqliteStore({ file })
  onCleanup(() => store.close())
  const held = gate()
  const results = new Set<string>()
  const engine = await openEngine({ storeFile: file, ports: { store: holding(store, held.opened, results) } })
  // An engine that waits for the store does not close.
  onCleanup(held.open)
  const page = await openPage(engine.url)
  await page.goto(`${engine.url}/console/n/default/runs?app=${app}&status=failed`)
  await page.getByRole('checkbox', { name: 'Select row 1', exact: true }).click()
  await page.getByRole('button', { name: 'Select all matching' }).click()
  await page.getByText('All 1,204 runs matching').waitFor()
  await page.getByRole('button', { name: 'Replay…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('1,204 matched, 1,204 can be replayed').waitFor()
  const confirm = dialog.getByRole('button', { name: 'Replay 1,204' })
  await dialog.getByLabel('Type 1,204 to confirm').fill('1,203')
  expect(await confirm.getAttribute('aria-disabled')).toBe('true')
  await dialog.getByLabel('Type 1,204 to confirm').fill('1,204')
  let reads = 0
  page.on('request', request => {
    if (/\/bulk\/[^?]+\?limit=1$/.test(request.url())) reads++
  })
  const clickedAt = performance.now()
  await confirm.click()
  await page.getByRole('heading', { name: 'Bulk replay: 1,204 runs' }).waitFor()
  await until(() => results.size === HELD_AFTER, { what: 'the middle of the job' })
  const count = () => page.getByText(/ of 1,204 runs: /).innerText()
  const id = new URL(page.url()).pathname.split('/').at(-1) as string
  const read = async (query = '') => (await engine.api.get(`/bulk/${id}${query}`)).json as BulkDetail
  await expect.poll(count, PATIENCE).toMatch(/^400 of 1,204 runs: \d+ done, 0 skipped, \d+ failed$/)
  // The stream delivers the counts. The page reads the job when it opens and when the stream has opened, once more if the stream
  // has a gap on a slow machine. It reads the new runs every two seconds, because no frame counts them.
  expect(reads).toBeLessThanOrEqual(3 + Math.floor((performance.now() - clickedAt) / 2000))
  const bar = page.getByRole('progressbar', { name: 'Progress' })
  expect([await bar.getAttribute('value'), await bar.getAttribute('max')]).toEqual(['400', '1204'])
  await page.reload()
  await expect.poll(count, PATIENCE).toMatch(/^400 of 1,204 runs/)
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Stop…' }).click()
  await page.getByRole('button', { name: 'Stop job' }).click()
  await page.getByRole('status').getByText('stopped').waitFor()
  held.open()
  // The runs that were under way when the job was stopped have no result.
  const job = await read('?limit=200')
  expect(job).toMatchObject({ status: 'stopped', matched: 1204, skipped: 0 })
  expect(job.done + job.failed).toBe(HELD_AFTER)
  expect(job.failed).toBeGreaterThan(0)
  await page.getByText(`${job.done} done, 0 skipped, ${job.failed} failed`).waitFor()
  const queued = { action: 'cancel', filter: { status: 'queued' }, dryRun: true }
  expect((await engine.api.post('/bulk', queued)).json).toMatchObject({ matched: job.done })
  const entries = (await engine.api.get('/control-actions?action=bulk.replay')).json as ControlAction[]
  const details = entries.map(({ detail }) => detail as BulkDetail)
  expect(details.find(({ status }) => status === 'stopped')).toMatchObject({
    done: job.done,
    failed: job.failed,
    matched: 1204,
  })
  expect(engine.takeErrors()).toHaveLength(job.failed)

  isOn = false
  await page.getByRole('button', { name: /^Repeat for \d+ runs? that failed…$/ }).click()
  await dialog.getByText(`${job.failed} matched, ${job.failed} can be replayed`).waitFor()
  await dialog.getByRole('button', { name: `Replay ${job.failed}` }).click()
  await page.getByText(`${job.failed} of ${job.failed} runs: ${job.failed} done, 0 skipped, 0 failed`).waitFor()
  expect(new URL(page.url()).pathname).not.toContain(id)
})
