// Finds what pages leave behind when a browser moves between them: listeners and nodes that no page needs any more.

import type { Page } from 'playwright-core'
import { PATIENCE_MS, until } from '../until.ts'

/** Visits before the first count, so that everything that is kept only once exists. */
const FIRST = 3
const VISITS = 10
/** By how much the nodes may grow: the collector is not exact. */
const NODES_FACTOR_MAX = 1.1

/** Visits pages repeatedly. Throws when each visit leaves a listener behind, or when all visits together leave many nodes. */
export async function checkLeaks(
  page: Page,
  visit: () => Promise<void>,
  { deadlineMs = PATIENCE_MS } = {},
): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const counts = async () => {
    await session.send('HeapProfiler.collectGarbage')
    const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters')
    return { nodes, listeners: jsEventListeners }
  }
  for (let i = 0; i < FIRST; i++) await visit()
  const before = await counts()
  for (let i = 0; i < VISITS; i++) await visit()
  const bounds = { nodes: before.nodes * NODES_FACTOR_MAX, listeners: before.listeners + VISITS }
  // The collector may need a moment for the last page. A listener that leaks on each visit is there ten times.
  const excess = async () => {
    const after = await counts()
    return (['nodes', 'listeners'] as const).filter(what => after[what] >= bounds[what])
  }
  let left: string[] = []
  const isClean = async () => {
    left = await excess()
    return left.length === 0
  }
  await until(isClean, { deadlineMs }).catch(() => {
    throw new Error(`${VISITS} visits left ${left.join(' and ')} behind`)
  })
}
