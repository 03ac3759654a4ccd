// CONSOLE: the budgets of the console in a real Chromium against a real engine and runner. Counts, sizes and shares over their
// limit are problems; times are problems only beyond the limits calibrated for this machine.

import type { Store } from '../../../packages/engine/src/ports/store.ts'
import { until } from '../../../test/kit/until.ts'
import { Api } from '../../load/api.ts'
import type { Outcome } from '../../report/report.ts'
import type { BenchOptions } from '../../rig/options.ts'
import { onRig } from '../../rig/rig.ts'
import { BENCH_APP, NO_STEPS, SEQUENCE_10000, SLEEPER } from '../../rig/workflows.ts'
import { APART_MS, insertRuns } from '../seeds/listed-runs.ts'
import { Bars } from './bars.ts'
import { BenchBrowser } from './browser.ts'
import { busyList, idlePage, openHour } from './busy-list.ts'
import { changesAndKeys, firstList } from './first-list.ts'
import { longRun } from './long-run.ts'
import { pageReads } from './page-reads.ts'

const ROWS = 200
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const LONG_RUN_MS_MAX = 600_000

export async function consoleBudgets(options: BenchOptions): Promise<Outcome[]> {
  const browser = await BenchBrowser.launch()
  try {
    return [await small(options, browser), await large(options, browser)]
  } finally {
    await browser.close()
  }
}

/** Measures an engine with some hundred runs and one of 10,000 steps. */
function small(options: BenchOptions, browser: BenchBrowser): Promise<Outcome> {
  return onRig(options, { over: 'checkpoints' }, async rig => {
    const bars = new Bars()
    const { url: origin } = rig.engine
    const api = new Api(origin)
    const untilMs = Date.now() + DAY_MS
    const start = async ({ name }: { name: string }, n: number) =>
      (await api.post<{ runId: string }>('/events', { name, app: BENCH_APP, data: { n, untilMs } })).runId
    const slowness = await browser.slowness()
    // Half of the runs have ended, the other half sleep.
    for (let n = 0; n < ROWS; n++) await start(NO_STEPS, n)
    const runIds: string[] = []
    for (let n = 0; n < ROWS; n++) runIds.push(await start(SLEEPER, ROWS + n))
    const longOne = async () => {
      const runId = await start(SEQUENCE_10000, 1)
      const hasEnded = async () => (await api.get<{ status: string }>(`/runs/${runId}`)).status === 'succeeded'
      await until(hasEnded, { what: 'the run of 10,000 steps', deadlineMs: LONG_RUN_MS_MAX })
      return runId
    }
    const load = { origin, runIds, seconds: options.seconds }
    const parts: Record<string, () => Promise<void>> = {
      'first list': () => firstList(origin, browser, bars),
      'changes and keys': () => changesAndKeys(origin, browser, bars),
      'busy list': () => busyList(load, browser, bars),
      'an hour': () => openHour(load, browser, bars),
      '10,000 steps': async () => longRun({ origin, runId: await longOne() }, browser, bars),
      'idle page': () => idlePage(rig, browser, bars),
    }
    for (const [name, measure] of Object.entries(parts)) {
      // All of them together take minutes.
      console.error(`  ${name} …`)
      await measure()
    }
    await api.close()
    bars.add('calibration', { 'before, times the usual': slowness, 'after, times the usual': await browser.slowness() })
    return outcomeOf(`the console in Chromium ${browser.version}, ${ROWS} runs`, bars, browser)
  })
}

function large(options: BenchOptions, browser: BenchBrowser): Promise<Outcome> {
  const firstAt = Date.now() - options.listed * APART_MS - HOUR_MS
  let runId = ''
  const fill = async (store: Store) => {
    runId = (await insertRuns(store, options.listed, firstAt)).replayedId
  }
  return onRig(options, { fill }, async rig => {
    const bars = new Bars()
    await pageReads({ origin: rig.engine.url, workflow: 'workflow-3', runId }, browser, bars)
    return outcomeOf(`pages of the console over ${options.listed.toLocaleString('en-US')} runs`, bars, browser)
  })
}

function outcomeOf(title: string, { figures, problems }: Bars, browser: BenchBrowser): Outcome {
  const notes = [
    'a time is a problem beyond twice its bar, or twice its bar on a machine as slow as the calibration says',
    'the main thread: its own CPU time, which other processes do not change',
  ]
  return { title, figures, notes, problems: [...problems, ...browser.problems.splice(0)] }
}
