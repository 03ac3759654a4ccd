// BULK: how long a bulk action on many runs holds the engine's event loop, beside the same engine at rest. The runs wait in the
// queue of a workflow that is paused.

import type { Result } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'
import { Rig } from '../rig/rig.ts'

const RUNS = 10_000
/** The most events of one request. */
const BATCH = 1000
const REST_MS = 5000
const SCRAPE_EVERY_MS = 200
const PATIENCE_MS = 300_000
const WORKFLOW = 'held'

export async function bulk(options: BenchOptions): Promise<Result[]> {
  const rig = await Rig.open(options)
  const { origin } = rig.engine
  try {
    await post(`${origin}/register`, { app: 'bulk', url: 'http://127.0.0.1:9/', workflows: [{ name: WORKFLOW }] })
    await post(`${origin}/workflows/bulk/${WORKFLOW}/pause`)
    const events = Array.from({ length: BATCH }, () => ({ name: WORKFLOW, data: { text: 'x'.repeat(200) } }))
    for (let made = 0; made < RUNS; made += BATCH) await post(`${origin}/events/batch`, events)
    await pause(SCRAPE_EVERY_MS)
    const rest = await loopDelays(origin, async () => pause(REST_MS))
    const from = performance.now()
    let counts: Counts | undefined
    const acting = await loopDelays(origin, async () => {
      const { bulkId } = await post<{ bulkId: string }>(`${origin}/bulk`, {
        action: 'cancel',
        filter: { workflow: WORKFLOW, status: 'queued' },
      })
      counts = await ended(`${origin}/bulk/${bulkId}`)
    })
    const seconds = (performance.now() - from) / 1000
    const problems = counts?.done === RUNS ? [] : [`of ${RUNS} runs: ${JSON.stringify(counts)}`]
    if (!Number.isFinite(rest) || !Number.isFinite(acting)) problems.push('no delay of the event loop was observed')
    return [
      {
        workload: 'BULK',
        title: `a bulk action cancels ${RUNS.toLocaleString('en-US')} queued runs`,
        figures: {
          rest: { 'ms of the event loop, longest': rest },
          cancel: { 'ms of the event loop, longest': acting, 'runs/s': RUNS / seconds },
        },
        notes: ["the longest delay of the event loop by the engine's metrics, which include its resolution of 10 ms"],
        problems,
        profiles: [],
      },
    ]
  } finally {
    await rig.close()
  }
}

interface Counts {
  status: string
  done: number
}

async function ended(url: string): Promise<Counts> {
  for (const from = performance.now(); performance.now() - from < PATIENCE_MS; ) {
    const counts = (await (await fetch(`${url}?limit=1`)).json()) as Counts
    if (counts.status !== 'running') return counts
    await pause(SCRAPE_EVERY_MS)
  }
  throw new Error(`the bulk action did not end within ${PATIENCE_MS} ms`)
}

/** The longest delay of the engine's event loop while the work goes on, in ms. Each scrape begins a new measurement. */
async function loopDelays(origin: string, work: () => Promise<void>): Promise<number> {
  let isOver = false
  let longest = Number.NEGATIVE_INFINITY
  const scrape = async () => {
    const text = await (await fetch(`${origin}/metrics`)).text()
    return 1000 * Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1])
  }
  const scraping = async () => {
    await scrape()
    while (!isOver) {
      await pause(SCRAPE_EVERY_MS)
      const delay = await scrape()
      // The metrics have no delay when the loop was observed too shortly.
      if (Number.isFinite(delay)) longest = Math.max(longest, delay)
    }
  }
  const scraped = scraping()
  try {
    await work()
  } finally {
    isOver = true
  }
  await scraped
  return longest
}

async function post<T>(url: string, body?: unknown): Promise<T> {
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const response = await fetch(url, { method: 'POST', ...init })
  if (!response.ok) throw new Error(`POST ${url}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
