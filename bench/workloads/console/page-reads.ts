// The reads of the console's pages on a large store: opens the pages, and measures each read that they made again.

import { openFrameServer } from '../../../test/kit/browser/frame-server.ts'
import { Api } from '../../load/api.ts'
import { timed } from '../../measure/latency.ts'
import type { Bars } from './bars.ts'
import { type BenchBrowser, consoleUrl, untilTrue } from './browser.ts'

const SAMPLES = 20
const SETTLE_MS = 1500
/** A slow read is repeated fewer times. */
const SPENT_MS_MAX = 4000

const PAGES = (workflow: string, runId: string) => [
  '?since=24h',
  '?since=30d',
  'runs',
  'runs?status=failed',
  'runs?status=running,waiting&since=24h',
  `runs?workflow=${workflow}&since=7d`,
  'runs?sort=duration&since=24h',
  `runs/${runId}`,
  'workflows',
  'workflows?since=30d',
  `workflows/app-3/${workflow}`,
  'events',
  'schedules',
  'limits',
  'runners',
  'errors',
  'webhooks/deliveries',
  'webhooks/endpoints',
  'audit',
  'keys',
  'engine',
  'bulk',
]

export async function pageReads(
  { origin, workflow, runId }: { origin: string; workflow: string; runId: string },
  browser: BenchBrowser,
  bars: Bars,
): Promise<void> {
  const server = await openFrameServer(origin, { leavesStream: true })
  for (const path of PAGES(workflow, runId)) {
    const tab = await browser.open(server.url, { width: 1600 })
    await tab.page.goto(consoleUrl(server.url, path))
    await tab.page.locator('h1').waitFor()
    await untilTrue(tab.page, "document.querySelector('[aria-busy]') === null")
    await tab.page.waitForTimeout(SETTLE_MS)
    await tab.context.close()
  }
  const lines = server.requests.map(({ line }) => line)
  server.close()
  const reads = new Set(
    lines.filter(line => /^GET \//.test(line) && !/^GET \/(console|stream)/.test(line)).map(line => line.slice(4)),
  )
  const slowness = await browser.slowness()
  const api = new Api(origin, { headers: { 'accept-encoding': 'br' } })
  const all: { path: string; p95: number }[] = []
  for (const path of reads) {
    const read = async () => {
      const { status } = await api.call('GET', path)
      if (status >= 400) bars.problems.push(`GET ${path} answered ${status}`)
    }
    all.push({ path, p95: (await timed(read, { samples: SAMPLES, spentMsMax: SPENT_MS_MAX })).p95 })
  }
  await api.close()
  all.sort((a, b) => b.p95 - a.p95)
  for (const { path, p95 } of all.slice(0, 5)) bars.add(named(path), { 'p95 ms': p95 })
  bars.time(`slowest of ${all.length} reads of the pages, p95`, all[0]?.p95 ?? Number.NaN, { barMs: 200, slowness })
}

/** Removes times and ids, which differ from run to run. */
const named = (path: string) => path.replace(/=\d{4}-[\w:.-]+/g, '=time').replace(/run_\w+/, 'run')
