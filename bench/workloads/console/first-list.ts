// The way to the first list: requests, and the time in a browser with an empty cache. Then changes of the page, and keys.

import { openFrameServer } from '../../../test/kit/browser/frame-server.ts'
import { percentiles } from '../../measure/latency.ts'
import type { Bars } from './bars.ts'
import { type BenchBrowser, consoleUrl, type Tab, untilTrue } from './browser.ts'

const OPENINGS = 5
const CHANGES = 12
const KEYS = 40
const SETTLE_MS = 1000
/** Repeat interval of a key that is held down. */
const REPEAT_MS = 33

/** Records when the first row is painted, in the page's own time, which starts with the navigation. */
const NOTE_FIRST_ROW = `new MutationObserver((_, observer) => {
  if (!document.querySelector('tbody tr[data-key]')) return
  observer.disconnect()
  window.rowsAt = Date.now()
  requestAnimationFrame(() => setTimeout(() => (window.shownMs = performance.now())))
}).observe(document, { subtree: true, childList: true })`

export async function firstList(origin: string, browser: BenchBrowser, bars: Bars): Promise<void> {
  const server = await openFrameServer(origin, { leavesStream: true })
  const tab = await open(browser, server.url, 1)
  const rowsAt = await tab.page.evaluate<number>('window.rowsAt')
  const first = server.requests.filter(({ at }) => at < rowsAt).map(({ line }) => line)
  bars.count('requests until the first list', first.length, 8, first.join(', '))
  await tab.context.close()
  server.close()
  for (const [throttle, barMs] of [
    [1, 500],
    [4, 1500],
  ] as const) {
    const slowness = await browser.slowness()
    const times: number[] = []
    for (let i = 0; i < OPENINGS; i++) {
      const { page, context } = await open(browser, origin, throttle)
      times.push(await page.evaluate<number>('window.shownMs'))
      await context.close()
    }
    const name = throttle === 1 ? 'first list, cold' : `first list, cold, CPU throttled ${throttle} times`
    bars.time(name, percentiles(times).p50, { barMs, slowness })
  }
}

async function open(browser: BenchBrowser, origin: string, throttle: number): Promise<Tab> {
  const tab = await browser.open(origin, { before: NOTE_FIRST_ROW, throttle })
  await tab.page.goto(consoleUrl(origin, 'runs'))
  await untilTrue(tab.page, 'window.shownMs !== undefined')
  return tab
}

/** Records the time from a key to the paint after the page's reaction: at once, or when a heading has changed. */
const NOTE_KEYS = `(() => {
  window.paints = []
  const painted = from => requestAnimationFrame(() => {
    const channel = new MessageChannel()
    channel.port1.onmessage = () => window.paints.push(performance.now() - from)
    channel.port2.postMessage(0)
  })
  window.noteKey = wanted => new Promise(resolve => addEventListener('keydown', event => {
    const from = event.timeStamp
    const look = () => {
      if (wanted !== undefined && document.querySelector('h1')?.textContent !== wanted) return setTimeout(look)
      painted(from)
      resolve()
    }
    queueMicrotask(look)
  }, { once: true, capture: true }))
})()`

export async function changesAndKeys(origin: string, browser: BenchBrowser, bars: Bars): Promise<void> {
  const slowness = await browser.slowness()
  const tab = await open(browser, origin, 1)
  const { page } = tab
  await page.evaluate(NOTE_KEYS)
  const times = async () => {
    await page.waitForTimeout(100)
    return page.evaluate<number[]>('window.paints.splice(0)')
  }
  const change = async (key: string, heading: string) => {
    await page.keyboard.press('g')
    await page.evaluate(`void window.noteKey('${heading}')`)
    await page.keyboard.press(key)
    await page.getByRole('heading', { level: 1, name: heading }).waitFor()
  }
  for (let i = 0; i <= CHANGES; i++) {
    await change('w', 'Workflows')
    await change('r', 'Runs')
    // The first changes load the code and the data of the pages.
    if (i === 0) await times()
  }
  bars.time('change to a cached page, p95', percentiles(await times()).p95, { barMs: 100, slowness })
  await page.locator('tbody tr[data-key]').first().waitFor()
  // The list is read again after the change.
  await page.waitForTimeout(SETTLE_MS)
  for (let i = 0; i < KEYS; i++) {
    await page.evaluate('void window.noteKey()')
    await page.keyboard.press('j')
    await page.waitForTimeout(REPEAT_MS)
  }
  bars.time('key to paint, p95', percentiles(await times()).p95, { barMs: 50, slowness })
  await tab.context.close()
}
