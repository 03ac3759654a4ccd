// A list that is open and that nobody touches, beside an engine without work: requests, and what they cost the engine.

import { openFrameServer } from '../../../test/kit/browser/frame-server.ts'
import { CpuMeter } from '../../measure/cpu-meter.ts'
import type { EngineProcess } from '../../rig/engine-process.ts'
import type { Bars } from './bars.ts'
import { type BenchBrowser, consoleUrl } from './browser.ts'

const SETTLE_MS = 5000
/** Long enough for the counts beside the sections to be read twice. */
const MINUTES = 2
const MINUTE_MS = 60_000

export async function idlePage(engine: EngineProcess, browser: BenchBrowser, bars: Bars): Promise<void> {
  await pause(SETTLE_MS)
  const alone = await cpuPercent(engine)
  const server = await openFrameServer(engine.origin, { leavesStream: true })
  const tab = await browser.open(server.url, { width: 1600 })
  await tab.page.goto(consoleUrl(server.url, 'runs'))
  await tab.page.getByRole('button', { name: 'Live', exact: true }).waitFor()
  await pause(SETTLE_MS)
  const before = server.requests.length
  const open = await cpuPercent(engine)
  const requests = server.requests.slice(before)
  await tab.context.close()
  server.close()
  bars.count('requests a minute of an idle page', requests.length / MINUTES, 2)
  bars.count('engine: an idle page, % of a core', open - alone, 1)
  bars.add('engine without it', { '% of a core': alone })
}

async function cpuPercent(engine: EngineProcess): Promise<number> {
  const meter = new CpuMeter({ engine: engine.pid })
  await pause(MINUTES * MINUTE_MS)
  const seconds = meter.read().shares.reduce((sum, share) => sum + share.seconds, 0)
  return (100 * seconds * 1000) / (MINUTES * MINUTE_MS)
}

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
