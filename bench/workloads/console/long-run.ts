// The page of a run with 10,000 steps: when it is shown, how it scrolls and zooms, and how much heap it needs.

import { percentiles } from '../../measure/latency.ts'
import type { Bars } from './bars.ts'
import { type BenchBrowser, consoleUrl, heapBytes, untilTrue } from './browser.ts'

const OPENINGS = 3
const MB = 1e6

/** Records when the first steps are painted. */
const NOTE_STEPS = `new MutationObserver((_, observer) => {
  if (!document.querySelector('[role=treegrid] [role=row][aria-rowindex="2"]')) return
  observer.disconnect()
  requestAnimationFrame(() => setTimeout(() => (window.shownMs = performance.now())))
}).observe(document, { subtree: true, childList: true })`

/** Moves the timeline in every frame, and returns the times between frames. */
const moving = (move: string) => `(async () => {
  const element = document.querySelector('[role=treegrid]')
  const { left, top, width } = element.getBoundingClientRect()
  const frame = () => new Promise(resolve => requestAnimationFrame(resolve))
  const times = []
  let last = await frame()
  for (let i = 0; i < 120; i++) {
    ${move}
    const at = await frame()
    times.push(at - last)
    last = at
  }
  return times
})()`
const SCROLL = moving('element.scrollTop = (element.scrollHeight * (i % 40)) / 40')
const ZOOM = moving(`element.dispatchEvent(new WheelEvent('wheel', {
  clientX: left + width / 2, clientY: top + 50, deltaY: i % 20 < 10 ? -60 : 60,
  ctrlKey: true, cancelable: true, bubbles: true,
}))`)

export async function longRun(
  { origin, runId }: { origin: string; runId: string },
  browser: BenchBrowser,
  bars: Bars,
): Promise<void> {
  const slowness = await browser.slowness()
  const times: number[] = []
  for (let i = 0; i < OPENINGS; i++) {
    const tab = await browser.open(origin, { before: NOTE_STEPS })
    await tab.page.goto(consoleUrl(origin, `runs/${runId}`))
    await untilTrue(tab.page, 'window.shownMs !== undefined')
    times.push(await tab.page.evaluate<number>('window.shownMs'))
    await tab.context.close()
  }
  bars.time('10,000 steps: shown', percentiles(times).p50, { barMs: 600, slowness })
  const tab = await browser.open(origin)
  await tab.page.goto(consoleUrl(origin, `runs/${runId}`))
  const folded = tab.page.getByRole('row', { name: /10000 steps/ })
  await folded.waitFor()
  await tab.page.getByText('reading on…').waitFor({ state: 'detached' })
  await tab.page.getByRole('treegrid').focus()
  for (const key of ['ArrowDown', 'ArrowRight']) await tab.page.keyboard.press(key)
  await tab.page.getByRole('row', { name: /^step-1,/ }).waitFor()
  for (const [name, script] of [
    ['scroll', SCROLL],
    ['zoom', ZOOM],
  ] as const) {
    const frames = await tab.page.evaluate<number[]>(script)
    bars.time(`10,000 steps: ${name}, frame p95`, percentiles(frames).p95, { barMs: 33, slowness })
  }
  bars.count('10,000 steps: heap, MB', (await heapBytes(tab)) / MB, 60)
  await tab.context.close()
}
