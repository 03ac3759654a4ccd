// CONSOLE: the budgets of the console in a real Chromium against a real engine and runner. Counts, sizes and shares over
// their bar are problems; times are, beyond what this machine's calibration allows.

import { EventPoster } from '../../load/event-poster.ts'
import type { Result } from '../../report/report.ts'
import type { BenchOptions } from '../../rig/options.ts'
import { Rig } from '../../rig/rig.ts'
import { BENCH_APP, NO_STEPS, SEQUENCE_10000, SLEEPER } from '../../rig/workflows.ts'
import { APART_MS, insertRuns } from '../listed-runs.ts'
import { Bars } from './bars.ts'
import { BenchBrowser } from './browser.ts'
import { busyList, openHour } from './busy-list.ts'
import { changesAndKeys, firstList } from './first-list.ts'
import { idlePage } from './idle-page.ts'
import { longRun } from './long-run.ts'
import { pageReads } from './page-reads.ts'

const ROWS = 200
const LATER_MS = 86_400_000
const HOUR_MS = 3_600_000

export async function consoleBudgets(options: BenchOptions): Promise<Result[]> {
  const browser = await BenchBrowser.launch()
  try {
    return [await small(options, browser), await large(options, browser)]
  } finally {
    await browser.close()
  }
}

/** An engine with some hundred runs and one of 10,000 steps. */
async function small(options: BenchOptions, browser: BenchBrowser): Promise<Result> {
  const rig = await Rig.open(options, 'checkpoints')
  const bars = new Bars()
  try {
    const { origin } = rig.engine
    const slowness = await browser.slowness()
    const runIds = await fill(origin)
    const load = { origin, runIds, seconds: options.seconds }
    const parts: Record<string, () => Promise<void>> = {
      'first list': () => firstList(origin, browser, bars),
      'changes and keys': () => changesAndKeys(origin, browser, bars),
      'busy list': () => busyList(load, browser, bars),
      'an hour': () => openHour(load, browser, bars),
      '10,000 steps': async () => longRun({ origin, runId: await longOne(origin) }, browser, bars),
      'idle page': () => idlePage(rig.engine, browser, bars),
    }
    for (const [name, measure] of Object.entries(parts)) {
      // The whole takes minutes.
      console.error(`  ${name} …`)
      await measure()
    }
    bars.add('calibration', { 'before, times the usual': slowness, 'after, times the usual': await browser.slowness() })
    const title = `the console in Chromium ${browser.version}, ${ROWS} runs`
    return resultOf(title, bars, browser)
  } finally {
    await rig.close()
  }
}

async function large(options: BenchOptions, browser: BenchBrowser): Promise<Result> {
  const rig = await Rig.open(options)
  const bars = new Bars()
  try {
    const firstAt = Date.now() - options.listed * APART_MS - HOUR_MS
    const sample = await rig.offline(database => insertRuns(database, options.listed, firstAt))
    const { origin } = rig.engine
    await pageReads({ origin, workflow: 'workflow-3', runId: sample.replayedId }, browser, bars)
    return resultOf(`pages of the console over ${options.listed.toLocaleString('en-US')} runs`, bars, browser)
  } finally {
    await rig.close()
  }
}

function resultOf(title: string, { figures, problems }: Bars, browser: BenchBrowser): Result {
  const faults = browser.problems.splice(0)
  return { workload: 'CONSOLE', title, figures, notes: NOTES, problems: [...problems, ...faults], profiles: [] }
}

const NOTES = [
  'a time is a problem beyond twice its bar, or twice its bar on a machine as slow as the calibration says',
  'the main thread: its own CPU time, which other processes do not change',
]

/** Runs that sleep, and as many that ended. */
async function fill(origin: string): Promise<string[]> {
  const poster = new EventPoster(origin)
  const untilMs = Date.now() + LATER_MS
  const send = async (name: string, n: number) =>
    (await poster.send({ name, app: BENCH_APP, data: { n, untilMs } })).runId
  for (let n = 0; n < ROWS; n++) await send(NO_STEPS.name, n)
  const runIds: string[] = []
  for (let n = 0; n < ROWS; n++) runIds.push(await send(SLEEPER.name, ROWS + n))
  await poster.close()
  return runIds
}

async function longOne(origin: string): Promise<string> {
  const poster = new EventPoster(origin)
  const { runId } = await poster.send({ name: SEQUENCE_10000.name, app: BENCH_APP, data: { n: 1 } })
  await poster.close()
  for (let status = ''; status !== 'succeeded'; await new Promise(resolve => setTimeout(resolve, 200))) {
    status = ((await (await fetch(`${origin}/runs/${runId}`)).json()) as { status: string }).status
    if (status === 'failed') throw new Error('the run of 10,000 steps failed')
  }
  return runId
}
