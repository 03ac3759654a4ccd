// A key that moves through a list is cheap: it changes two rows, and moves the focus at once. The entry of the history is
// written when the keys rest.

import { expect, test } from 'vitest'
import { openPage } from '../../kit/browser/page.ts'
import { seedRuns } from '../../kit/engine/seed-runs.ts'
import { openEngine } from '../../kit/index.ts'

const RUNS = 60
const DAY_MS = 86_400_000

interface Moved {
  /** The row that has the focus after each key. */
  focused: string[]
  /** Rows that each key changed, and rows that appeared or disappeared. */
  changed: string[][]
  added: number
  /** Writes of the history until the last key. */
  writes: number
}

const COUNT_WRITES = `(() => {
  const write = history.replaceState
  history.replaceState = (...values) => {
    window.writes++
    write.apply(history, values)
  }
})()`

const PRESS = (key: string, times: number) => `(async () => {
  const body = document.querySelector('table[aria-label=Runs] tbody')
  window.writes = 0
  let records = []
  const observer = new MutationObserver(more => records.push(...more))
  observer.observe(body, { subtree: true, childList: true, attributes: true })
  const moved = { focused: [], changed: [], added: 0 }
  for (let i = 0; i < ${times}; i++) {
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true, cancelable: true }))
    moved.focused.push(document.activeElement.dataset.key)
    // The page is rendered at the latest in a separate task.
    await new Promise(resolve => setTimeout(resolve))
    moved.changed.push([...new Set(records.map(({ target }) => target.closest('tr')?.dataset.key ?? target.tagName))])
    moved.added += records.reduce((sum, { addedNodes }) => sum + addedNodes.length, 0)
    records = []
  }
  observer.disconnect()
  return { ...moved, writes: window.writes }
})()`

test('j and k change two rows each, move the focus at once, and are kept in the history by one write', async () => {
  // Times of days ago, which do not change with each second.
  const storeFile = await seedRuns(RUNS, () => ({ status: 'succeeded' }), Date.now() - DAY_MS)
  const engine = await openEngine({ storeFile })
  const page = await openPage(engine.url)
  await page.goto(`${engine.url}/console/n/default/runs`)
  const rows = page.locator('tbody tr[data-key]')
  await rows.nth(10).waitFor()
  await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
  const keys = await rows.evaluateAll(all => all.map(row => row.getAttribute('data-key') as string))
  await page.keyboard.press('j')
  await expect.poll(() => page.evaluate('document.activeElement.dataset.key')).toBe(keys[0])
  await expect.poll(() => page.evaluate('Object.values(history.state)')).toContain(keys[0])

  await page.evaluate(COUNT_WRITES)
  for (const [key, from, by] of [
    ['j', 0, 1],
    ['k', 6, -1],
  ] as const) {
    const { focused, changed, added, writes } = await page.evaluate<Moved>(PRESS(key, 6))
    const places = [1, 2, 3, 4, 5, 6].map(i => from + i * by)
    expect(focused).toEqual(places.map(place => keys[place]))
    expect(changed.map(names => names.sort())).toEqual(places.map(place => [keys[place - by], keys[place]].sort()))
    expect([added, writes]).toEqual([0, 0])
    await expect.poll(() => page.evaluate('window.writes')).toBe(1)
    expect(await page.evaluate('Object.values(history.state)')).toContain(focused.at(-1))
  }
  // When the page is left, it is written at once.
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'order' }).waitFor()
  await page.goBack()
  await expect.poll(() => page.evaluate('document.activeElement.dataset.key')).toBe(keys[1])
})
