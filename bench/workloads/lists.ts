// LISTS: pages of runs and their counts over a large store, read through the API. The runs are written straight into the
// store, a few thousand per transaction: driving a million runs would take an hour and change nothing about how they are listed.

import { percentiles } from '../measure/latency.ts'
import type { Figures, Result } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'
import { Rig } from '../rig/rig.ts'
import { type DetailRead, detailReads } from './details/detail-reads.ts'
import { HeldRuns } from './details/held-runs.ts'
import { insertDetails } from './details/stored-details.ts'
import { pairFigures } from './list-pairs.ts'
import { APART, insertRuns, RARE_ATTRIBUTE, type Sample } from './listed-runs.ts'
import { ListsApi } from './lists-api.ts'

const SORTS = ['started', 'workflow', 'status', 'app', 'duration'] as const
const DIRS = ['desc', 'asc'] as const
const DEEP_PAGE = 1000
/** Rows of a measured page, and of a page on the way to the deep one, the largest there is: a cursor fits pages of any size. */
const PAGE = 30
const STRIDE = 200
const SAMPLES = 20
const DAY_MS = 86_400_000

export async function lists(options: BenchOptions): Promise<Result[]> {
  const rig = await Rig.open(options)
  try {
    const { sample, details } = await rig.offline(async database => {
      const sample = await insertRuns(database, options.listed)
      return { sample, details: await insertDetails(database, sample.until, options.listed) }
    })
    const api = new ListsApi(rig.engine.origin)
    const figures = await listFigures(api, sample)
    const pairs = await pairFigures(api, sample)
    const single = await detailFigures(rig.engine.origin, api, detailReads(details, sample))
    api.close()
    const title = `${options.listed.toLocaleString('en-US')} runs, pages of ${PAGE}`
    const result = { workload: 'LISTS', notes: NOTES, problems: api.problems, profiles: [] }
    return [
      { ...result, title, figures },
      { ...result, title: `${title}: two filters, p50 ms by order`, figures: pairs, notes: PAIR_NOTES, problems: [] },
      { ...result, title: `${title}: trees, passes, limits`, figures: single, notes: DETAIL_NOTES, problems: [] },
    ]
  } finally {
    await rig.close()
  }
}

async function listFigures(api: ListsApi, sample: Sample): Promise<Record<string, Figures>> {
  const figures: Record<string, Figures> = {}
  for (const sort of SORTS) {
    for (const dir of DIRS) figures[`${sort} ${dir}`] = await order(api, `sort=${sort}&dir=${dir}`)
  }
  const reads = [...filtersOf(sample), ...attributeFilters()].map(filter => `/runs?${filter}`)
  for (const read of [...reads, ...statistics(sample)]) figures[short(read, sample)] = await timed(api, read)
  return figures
}

function filtersOf({ recentFrom, eventId, replayedId, parentId, fingerprint }: Sample): string[] {
  const since = new Date(recentFrom).toISOString()
  return [
    'app=app-3',
    'status=failed',
    'status=running',
    'runType=cron',
    `since=${since}`,
    `app=app-3&since=${since}`,
    'app=app-3&status=failed',
    'workflow=workflow-3',
    'workflow=workflow-3&status=failed',
    'status=failed,cancelled',
    `until=${since}`,
    'waitingFor=event',
    `parentRunId=${parentId}`,
    `error=${fingerprint}`,
    `eventId=${eventId}`,
    `replayOf=${replayedId}`,
    `since=${since}&sort=duration`,
    'app=app-3&sort=duration',
    'q=workflow-1',
    'q=no-such-thing',
    `q=no-such-thing&since=${since}`,
    'q=no-such-thing&deep=1',
    `q=no-such-thing&deep=1&since=${since}`,
  ]
}

/** Each attribute alone and with a filter that many, some or none of its runs match. */
function attributeFilters(): string[] {
  return [RARE_ATTRIBUTE, APART.attribute].flatMap(text =>
    [
      '',
      '&status=succeeded',
      '&status=failed',
      '&status=running',
      '&workflow=workflow-3',
      `&workflow=${APART.workflow}`,
      '&app=app-3',
      '&sort=duration',
      '&sort=duration&status=failed',
      '&sort=status&dir=asc',
    ].map(rest => `attribute=${text}${rest}`),
  )
}

/** Over the whole month and over its last hours. */
function statistics({ recentFrom, until }: Sample): string[] {
  const time = (at: number) => new Date(at).toISOString()
  const [recent, month] = [time(recentFrom), time(monthBefore(until))]
  return [
    ...['', '?app=app-3', `?since=${recent}`].map(scope => `/runs/stats${scope}`),
    ...[`since=${recent}`, `since=${month}`, `since=${month}&app=app-3`, `since=${month}&workflow=workflow-3`].map(
      query => `/runs/series?${query}&until=${time(until)}`,
    ),
    `/runs/series?since=${month}&until=${time(until)}&step=1d`,
    `/runs/series?since=${time(daysBefore(until))}&until=${time(until)}&step=5m`,
    `/workflows/stats?since=${recent}`,
    `/workflows/stats?since=${month}`,
    `/workflows/stats?since=${month}&workflow=workflow-3`,
    `/workflows/stats?since=${time(weekBefore(until))}&trend=32`,
    '/runs/facets',
    `/runs/facets?since=${recent}`,
    `/errors?since=${recent}`,
    `/errors?since=${month}`,
    `/errors?since=${month}&trend=24&runners=10`,
  ]
}

const monthBefore = (at: number) => at - 30 * DAY_MS
const daysBefore = (at: number) => at - 2 * DAY_MS
const weekBefore = (at: number) => at - 7 * DAY_MS

const NOTES = [
  'written straight into the database; all requests go through the API',
  'a search that takes longer than 5 s is answered 400, which is a figure here, not a problem',
]

const DETAIL_NOTES = [
  'one post to an endpoint for each run; 1,000 runs hold slots, 2,000 wait for them, 5,000 buffers are open',
]

const PAIR_NOTES = ['for each pair of filters the first page in every order, the worse of its two directions']

/** Reads of one run, event or limit, while runs hold slots and buffers are open. */
async function detailFigures(origin: string, api: ListsApi, reads: DetailRead[]): Promise<Record<string, Figures>> {
  const held = new HeldRuns()
  try {
    await held.start(origin)
    const figures: Record<string, Figures> = {}
    for (const { name, path } of reads) figures[name] = await timed(api, path)
    return figures
  } finally {
    held.stop()
  }
}

/** Measures the first page, and the page after `DEEP_PAGE - 1` others. */
async function order(api: ListsApi, query: string): Promise<Figures> {
  const first = await timed(api, `/runs?${query}`)
  let cursor: string | undefined
  for (let rows = 0; rows < (DEEP_PAGE - 1) * PAGE; rows += STRIDE) {
    const at = cursor === undefined ? '' : `&cursor=${cursor}`
    const next = (await api.get(`/runs?${query}&limit=${STRIDE}${at}`)).cursor
    if (next === undefined) break
    cursor = next
  }
  const deep = await timed(api, `/runs?${query}&cursor=${cursor}`)
  return {
    'page 1 p50 ms': first['p50 ms'] as number,
    'max ms': first['max ms'] as number,
    [`page ${DEEP_PAGE} p50 ms`]: deep['p50 ms'] as number,
    'its max ms': deep['max ms'] as number,
    rows: deep.rows as number,
  }
}

/** Slow requests are repeated fewer times. */
async function timed(api: ListsApi, path: string): Promise<Figures> {
  const times: number[] = []
  let rows = 0
  let status = 0
  for (let spent = 0; times.length < SAMPLES && spent < 2000; ) {
    const from = performance.now()
    const answer = await api.get(path)
    const ms = performance.now() - from
    times.push(ms)
    spent += ms
    ;({ rows, status } = answer)
  }
  const { p50, p95, max } = percentiles(times)
  return { 'p50 ms': p50, 'p95 ms': p95, 'max ms': max, rows, status, requests: times.length }
}

/** The request as a label: times by their names, so that reads of different spans stay apart. */
function short(path: string, { recentFrom, until }: Sample): string {
  const names: [at: number, name: string][] = [
    [recentFrom, 'recent'],
    [monthBefore(until), 'month'],
    [daysBefore(until), '2d'],
    [weekBefore(until), 'week'],
    [until, 'now'],
  ]
  const named = names.reduce((text, [at, name]) => text.replaceAll(new Date(at).toISOString(), name), path)
  return named.replace(/^\/runs\?/, '').replace(/=(run|evt)_\w+/, '')
}
