// The page of a run with 10,000 steps: its reads, what it shows first, and that its work does not grow with the steps.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openPage } from '../kit/browser/page.ts'
import { flow, openEngine, run, StepFailure, unique, until, within } from '../kit/index.ts'

const engine = await openEngine()
const { api, url } = engine

/** Heap of the page after a collection. */
const HEAP_BYTES_MAX = 60 * 1024 * 1024
/** The maximum number of rows in the document, for any number of steps. */
const ROWS_MAX = 80
/** Steps per answer of the runner; an answer has a bound in bytes. */
const STAGE = 2500

/** A run with this many steps. Every 911th step failed. */
async function runOf(count: number): Promise<string> {
  const name = unique('import')
  const bodyOf = (i: number) => () => {
    if (i % 911 === 910) throw new StepFailure(`row ${i} is bad`, { retriable: false })
    return { row: i }
  }
  const rows = Array.from({ length: count }, (_, i) => run(`import-row-${i}`, bodyOf(i), { catchable: true }))
  const stages = Array.from({ length: Math.ceil(count / STAGE) }, (_, i) => rows.slice(i * STAGE, (i + 1) * STAGE))
  await engine.runner({ workflows: { [name]: { handler: flow(stages, () => 'imported') } } })
  const { runId } = await api.send({ name })
  await api.reaches(runId, 'succeeded', 60_000)
  return runId
}

const pageOf = (runId: string, query = '') => `${url}/console/n/default/runs/${runId}${query}`
const [large, small] = [await runOf(10_000), await runOf(200)]

test('its first steps are shown while the others are read without results, and its failed steps are found by key', async () => {
  const page = await openPage(url)
  await readInParts(page)
  await findFailedSteps(page)
})

/** Opens the page. The first steps arrive before the others, in six answers. */
async function readInParts(page: Page): Promise<void> {
  const asked: URLSearchParams[] = []
  let release = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  await page.route('**/steps?*', async route => {
    const { searchParams } = new URL(route.request().url())
    asked.push(searchParams)
    if (searchParams.has('cursor')) await released
    await route.continue()
  })
  await page.goto(pageOf(large))
  await page.getByRole('row', { name: /^import-row-0…199, 200 steps, none failed/ }).waitFor()
  await page.getByRole('status').getByText('First 200 steps; loading more…').waitFor()
  release()
  await page.getByRole('row', { name: /^import-row-0…9999, 10000 steps, 10 failed/ }).waitFor()
  expect(await page.getByText('loading more…').count()).toBe(0)
  expect(asked.slice(0, 6).map(query => [query.get('fields'), query.get('limit')])).toEqual([
    ['summary', '200'],
    ...Array.from({ length: 5 }, () => ['summary', '2000']),
  ])
  // Frames of a run that ended a moment ago renew its last page: only that page may have changed.
  for (const query of asked.slice(6)) expect(query.toString()).toBe(asked[5]?.toString())
}

/** Selecting a failed step reads it, and the zoom finds its bar. */
async function findFailedSteps(page: Page): Promise<void> {
  const results: string[] = []
  page.on('request', request => {
    if (/\/steps\/[^?]+$/.test(request.url())) results.push(request.url())
  })
  await page.getByRole('treegrid').focus()
  for (const key of ['ArrowDown', 'ArrowRight', 'n', 'n']) await page.keyboard.press(key)
  const inspector = page.getByRole('complementary', { name: 'Selected step' })
  await inspector.getByText('row 1821 is bad').first().waitFor()
  const row = page.getByRole('row', { name: /^import-row-1821,/ })
  const height = page.viewportSize()?.height ?? 0
  const onScreen = async () => {
    const box = await row.boundingBox()
    if (box !== null && box.y > 0 && box.y + box.height <= height) return true
    throw new Error(`the row is at ${JSON.stringify(box)} of a page of ${height} px`)
  }
  await until(onScreen, { what: 'the failed step on the screen' })
  await page.keyboard.press('N')
  await inspector.getByText('row 910 is bad').first().waitFor()
  expect(results.length).toBeLessThanOrEqual(3)
  const grid = page.getByRole('treegrid')
  expect(await grid.getAttribute('aria-rowcount')).toBe('10002')
  expect(await page.getByRole('row').count()).toBeLessThan(ROWS_MAX)
  await page.keyboard.press('z')
  await page.getByRole('button', { name: 'Zoom out' }).waitFor()
  expect(await page.locator('[aria-selected=true] [data-kind=failed]').count()).toBe(1)
  await page.keyboard.press('0')
  await page.getByRole('button', { name: 'Zoom out' }).waitFor({ state: 'detached' })
}

/** Runs in the page: scrolls the timeline and turns the wheel with the control key, with a frame after each. */
const SCROLL_AND_ZOOM = `(async () => {
  const element = document.querySelector('[role=treegrid]')
  const frame = () => new Promise(resolve => requestAnimationFrame(resolve))
  const { left, top, width } = element.getBoundingClientRect()
  for (let i = 0; i < 30; i++) {
    element.scrollTop = (element.scrollHeight * (i % 10)) / 10
    await frame()
    const at = { clientX: left + width / 2, clientY: top + 50, deltaY: i % 10 < 5 ? -60 : 60 }
    element.dispatchEvent(new WheelEvent('wheel', { ...at, ctrlKey: true, cancelable: true, bubbles: true }))
    await frame()
  }
})()`

/** Milliseconds of the main thread for scrolling through the unfolded rows and zooming. */
async function workOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const read = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000
  }
  const before = await read()
  await within(page.evaluate(SCROLL_AND_ZOOM), 'the last frame', 60_000)
  return (await read()) - before
}

async function unfolded(runId: string): Promise<Page> {
  const page = await openPage(url)
  await page.goto(pageOf(runId))
  await page.getByRole('row', { name: /^import-row-0…\d+, \d+ steps/ }).waitFor()
  await page.getByText('loading more…').waitFor({ state: 'detached' })
  await page.getByRole('treegrid').focus()
  for (const key of ['ArrowDown', 'ArrowRight']) await page.keyboard.press(key)
  await page.getByRole('row', { name: /^import-row-1,/ }).waitFor()
  return page
}

test('scrolling and zooming takes as long as in a run of 200 steps, and its heap is bounded', async () => {
  const [many, few] = [await unfolded(large), await unfolded(small)]
  const work = { many: await workOf(many), few: await workOf(few) }
  expect(await many.getByRole('row').count()).toBeLessThan(ROWS_MAX)
  expect(work.many / work.few).toBeLessThan(5)
  const session = await many.context().newCDPSession(many)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  expect(usedSize).toBeLessThan(HEAP_BYTES_MAX)
})
