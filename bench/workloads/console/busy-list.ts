// A list of 200 runs under 2,000 status frames a second, with the pointer on a row: its rows stay, and new runs are counted. And the
// memory of one that is open for an hour.

import { type FrameServer, openFrameServer } from '../../../test/kit/browser/frame-server.ts'
import { percentiles } from '../../measure/latency.ts'
import type { Bars } from './bars.ts'
import { type BenchBrowser, consoleUrl, heapBytes, type Tab } from './browser.ts'

const FRAMES_PER_S = 2000
const WARM_UP_MS = 3000
/** A minute at least, with a new run in each of its seconds. */
const BUSY_S_MIN = 60
/** An hour of a list with 50 changes a second, in a window of `HOUR_SHARE` of it: as many frames, forty times as fast. */
const HOUR_FRAMES = 180_000

const WATCH = `(() => {
  window.frames2 = []
  window.tasks = [0]
  let last
  const frame = at => {
    if (last !== undefined) window.frames2.push(at - last)
    last = at
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
  new PerformanceObserver(list => window.tasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask' })
})()`

/** The first rows, and where they are on the screen. */
const PLACES = `[...document.querySelectorAll('tbody tr[data-key]')].slice(0, 20).map(row => {
  return row.dataset.key + ' at ' + row.getBoundingClientRect().top
})`

async function openList(browser: BenchBrowser, server: FrameServer, before?: string): Promise<Tab> {
  const tab = await browser.open(server.url, before === undefined ? {} : { before })
  await tab.page.goto(consoleUrl(server.url, 'runs'))
  await tab.page.getByRole('button', { name: 'Live', exact: true }).waitFor()
  await tab.page.locator('tbody tr[data-key]').nth(10).waitFor()
  return tab
}

/** CPU seconds of the page's main thread. Its own time, so that other processes do not count. */
async function cpuSeconds({ cdp }: Tab): Promise<number> {
  const { metrics } = await cdp.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN
}

export async function busyList(
  { origin, runIds, seconds }: { origin: string; runIds: readonly string[]; seconds: number },
  browser: BenchBrowser,
  bars: Bars,
): Promise<void> {
  const slowness = await browser.slowness()
  const server = await openFrameServer(origin)
  const tab = await openList(browser, server)
  await tab.cdp.send('Performance.enable', { timeDomain: 'threadTicks' })
  await tab.page.locator('tbody tr[data-key]').nth(3).hover()
  server.send(runIds, FRAMES_PER_S)
  await tab.page.waitForTimeout(WARM_UP_MS)
  await tab.page.evaluate(WATCH)
  const before = await tab.page.evaluate<string[]>(PLACES)
  const [from, cpu] = [performance.now(), await cpuSeconds(tab)]
  const newRuns = Math.max(seconds, BUSY_S_MIN)
  for (let i = 0; i < newRuns; i++) {
    server.sendOnce([`run_NEW${i}`])
    await tab.page.waitForTimeout(1000)
  }
  const share = (await cpuSeconds(tab)) - cpu
  const wall = (performance.now() - from) / 1000
  const frames = await tab.page.evaluate<number[]>('window.frames2')
  const tasks = await tab.page.evaluate<number[]>('window.tasks')
  const after = await tab.page.evaluate<string[]>(PLACES)
  const counted = Number(/▲ (\d+) new/.exec(await tab.page.locator('main').innerText())?.[1] ?? 0)
  const isSampling = (await tab.page.getByText('sampling').count()) > 0
  await tab.context.close()
  server.close()
  bars.count('2,000 frames/s: rows that moved', before.filter((place, i) => place !== after[i]).length, 0)
  bars.count('2,000 frames/s: new runs that were not counted', Math.abs(newRuns - counted), 0)
  bars.count('2,000 frames/s: % of the main thread', (100 * share) / wall, 30)
  bars.time('2,000 frames/s: frame, p95', percentiles(frames).p95, { barMs: 33, slowness })
  bars.time('2,000 frames/s: longest task', Math.max(...tasks), { barMs: 100, slowness })
  bars.add('2,000 frames/s: frames', { painted: frames.length, sampling: Number(isSampling) })
}

/** Without a SharedWorker the tab has the stream itself, so that the heap of the page has all that the console keeps. */
const WITHOUT_WORKER = 'delete window.SharedWorker'
const MB = 1e6

export async function openHour(
  { origin, runIds, seconds }: { origin: string; runIds: readonly string[]; seconds: number },
  browser: BenchBrowser,
  bars: Bars,
): Promise<void> {
  const server = await openFrameServer(origin)
  const tab = await openList(browser, server, WITHOUT_WORKER)
  server.send(runIds, FRAMES_PER_S)
  await tab.page.waitForTimeout(WARM_UP_MS)
  const before = await heapBytes(tab)
  let sent = 0
  const from = performance.now()
  while (sent < HOUR_FRAMES) {
    await tab.page.waitForTimeout(seconds * 100)
    // Runs that the list does not have are counted: as many as start in an hour with one a second.
    server.sendOnce(Array.from({ length: seconds * 4 }, (_, i) => `run_NEW${sent}x${i}`))
    sent = ((performance.now() - from) / 1000) * FRAMES_PER_S
  }
  const growth = (await heapBytes(tab)) - before
  await tab.context.close()
  server.close()
  bars.count(`heap growth over ${HOUR_FRAMES.toLocaleString('en-US')} frames, MB`, growth / MB, 10)
  bars.add('heap before', { MB: before / MB, seconds: (performance.now() - from) / 1000 })
}
