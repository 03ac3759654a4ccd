// The bad cases of LISTS: pages under every two filters that no run matches together, or only a few do, in every order. Called by
// lists.ts.

import { percentiles } from '../measure/latency.ts'
import type { Figures } from '../report/report.ts'
import { APART, type Sample } from './listed-runs.ts'
import type { ListsApi } from './lists-api.ts'

const SORTS = ['started', 'workflow', 'status', 'app', 'duration'] as const
const DIRS = ['desc', 'asc'] as const
const SAMPLES = 7
/** A pair that is slower than this is measured once. */
const SLOW_MS = 500
/** A page may take so long at p50. */
const BAR_MS = 10

/** Filters that each match many runs, or are a part of every list. */
function filtersOf({ recentFrom, eventId, parentId, fingerprint }: Sample): [name: string, query: string][] {
  const recent = new Date(recentFrom).toISOString()
  return [
    ['status', 'status=cancelled'],
    ['status of most', 'status=succeeded'],
    ['workflow', `workflow=${APART.workflow}`],
    ['app', `app=${APART.app}`],
    ['attribute', `attribute=${APART.attribute}`],
    ['other attribute', `attribute=${APART.otherAttribute}`],
    ['error', `error=${fingerprint}`],
    ['runType', 'runType=cron'],
    ['runType of most', 'runType=event'],
    ['since', `since=${recent}`],
    ['until', `until=${recent}`],
    ['eventId', `eventId=${eventId}`],
    ['parentRunId', `parentRunId=${parentId}`],
    ['waitingFor', 'waitingFor=event'],
  ]
}

/** For each pair the p50 of its first page in each order, the worse direction; and how many pages are over the bar. */
export async function pairFigures(api: ListsApi, sample: Sample): Promise<Record<string, Figures>> {
  const figures: Record<string, Figures> = {}
  const filters = filtersOf(sample)
  let [pages, over] = [0, 0]
  for (const [i, [first, query]] of filters.entries()) {
    for (const [second, further] of filters.slice(i + 1)) {
      // The statuses of a list are one filter, and so are its kinds of runs.
      if (first.split(' ')[0] === second.split(' ')[0]) continue
      const row: Figures = {}
      for (const sort of SORTS) {
        const all = await Promise.all(DIRS.map(async dir => `/runs?${query}&${further}&sort=${sort}&dir=${dir}`))
        const timed: { ms: number; rows: number; status: number }[] = []
        for (const path of all) timed.push(await p50Of(api, path))
        const worst = Math.max(...timed.map(({ ms }) => ms))
        Object.assign(row, {
          [sort]: worst,
          rows: timed[0]?.rows,
          'http status': Math.max(...timed.map(({ status }) => status)),
        })
        pages += timed.length
        over += timed.filter(({ ms }) => ms > BAR_MS).length
      }
      figures[`${first} and ${second}`] = row
    }
  }
  figures['pages of pairs'] = { pages, [`over ${BAR_MS} ms`]: over }
  return figures
}

async function p50Of(api: ListsApi, path: string): Promise<{ ms: number; rows: number; status: number }> {
  const times: number[] = []
  let answer = { rows: 0, status: 0 }
  do {
    const from = performance.now()
    answer = await api.get(path)
    times.push(performance.now() - from)
  } while (times.length < SAMPLES && (times[0] as number) < SLOW_MS)
  return { ms: percentiles(times).p50, ...answer }
}
