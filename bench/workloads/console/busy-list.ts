// A list of 200 runs under 2,000 status frames a second, with the pointer on a row: its rows stay, and new runs are counted. Also
// the memory of a list that is open for an hour, and the cost of a list that nobody touches.

import { setTimeout as pause } from 'node:timers/promises'
import { type FrameServer, openFrameServer } from '../../../test/kit/browser/frame-server.ts'
import { CpuMeter, secondsOf } from '../../measure/cpu-meter.ts'
import { percentiles } from '../../measure/latency.ts'
import type { Rig } from '../../rig/rig.ts'
import type { Bars } from './bars.ts'
import { type BenchBrowser, consoleUrl, heapBytes, type Tab, type TabOptions } from './browser.ts'

const FRAMES_PER_S = 2000
const WARM_UP_MS = 3000
/** At least a minute, with a new run in each second. */
const BUSY_S_MIN = 60
/**
 * An hour of a list with 50 changes a second, in a window of `HOUR_SHARE` of an hour: the same number of frames, forty times as
 * fast.
 */
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

/** The first rows, and their places on the screen. */
const PLACES = `[...document.querySelectorAll('tbody tr[data-key]')].slice(0, 20).map(row => {
  return row.dataset.key + ' at ' + row.getBoundingClientRect().top
})`

async function openList(browser: BenchBrowser, server: FrameServer, options: TabOptions = {}): Promise<Tab> {
  const tab = await browser.open(server.url, options)
  await tab.page.goto(consoleUrl(server.url, 'runs'))
  await tab.page.getByRole('button', { name: 'Live', exact: true }).waitFor()
  await tab.page.locator('tbody tr[data-key]').nth(10).waitFor()
  return tab
}

/** Returns the CPU seconds of the page's main thread. It is the thread's own time, so that other processes do not count. */
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

/** Without a SharedWorker the tab reads the stream itself, so that the page's heap contains everything that the console keeps. */
const WITHOUT_WORKER = 'delete window.SharedWorker'
const MB = 1e6

export async function openHour(
  { origin, runIds, seconds }: { origin: string; runIds: readonly string[]; seconds: number },
  browser: BenchBrowser,
  bars: Bars,
): Promise<void> {
  const server = await openFrameServer(origin)
  const tab = await openList(browser, server, { before: WITHOUT_WORKER })
  server.send(runIds, FRAMES_PER_S)
  await tab.page.waitForTimeout(WARM_UP_MS)
  const before = await heapBytes(tab)
  let sent = 0
  const from = performance.now()
  while (sent < HOUR_FRAMES) {
    await tab.page.waitForTimeout(seconds * 100)
    // Runs that are not in the list are counted: as many as start in an hour at one per second.
    server.sendOnce(Array.from({ length: seconds * 4 }, (_, i) => `run_NEW${sent}x${i}`))
    sent = ((performance.now() - from) / 1000) * FRAMES_PER_S
  }
  const growth = (await heapBytes(tab)) - before
  await tab.context.close()
  server.close()
  bars.count(`heap growth over ${HOUR_FRAMES.toLocaleString('en-US')} frames, MB`, growth / MB, 10)
  bars.add('heap before', { MB: before / MB, seconds: (performance.now() - from) / 1000 })
}

const SETTLE_MS = 5000
/** Long enough for the counts next to the sections to be read twice. */
const IDLE_MINUTES = 2
const MINUTE_MS = 60_000

/** A list that nobody touches, on an engine without work: its requests, and their cost for the engine. */
export async function idlePage({ engine }: Rig, browser: BenchBrowser, bars: Bars): Promise<void> {
  const cpuPercent = async () => {
    await pause(SETTLE_MS)
    const meter = new CpuMeter({ engine: engine.pid })
    await pause(IDLE_MINUTES * MINUTE_MS)
    return (100_000 * secondsOf(meter.read(), 'engine')) / (IDLE_MINUTES * MINUTE_MS)
  }
  const alone = await cpuPercent()
  const server = await openFrameServer(engine.url, { leavesStream: true })
  const tab = await openList(browser, server, { width: 1600 })
  const open = await cpuPercent()
  const since = Date.now() - IDLE_MINUTES * MINUTE_MS
  const requests = server.requests.filter(({ at }) => at >= since)
  await tab.context.close()
  server.close()
  bars.count('requests a minute of an idle page', requests.length / IDLE_MINUTES, 2)
  bars.count('engine: an idle page, % of a core', open - alone, 1)
  bars.add('engine without it', { '% of a core': alone })
}
