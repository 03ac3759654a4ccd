// LISTS: pages of runs and their counts over a large store, read through the API. The runs are written straight into
// the store, a few thousand per transaction: driving a million runs would take an
// hour and change nothing about how they are listed.

import { Agent, request } from 'node:http'
import { percentiles } from '../measure/latency.ts'
import type { Figures, Result } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'
import { Rig } from '../rig/rig.ts'
import { insertRuns, type Sample } from './listed-runs.ts'

const SORTS = ['started', 'workflow', 'status', 'app', 'duration'] as const
const DIRS = ['desc', 'asc'] as const
const DEEP_PAGE = 1000
/** Rows per page on the way to the deep page; the measured pages have the default size. */
const STRIDE = 30
const SAMPLES = 20
const DAY_MS = 86_400_000

export async function lists(options: BenchOptions): Promise<Result[]> {
  const rig = await Rig.open(options)
  try {
    const sample = await rig.offline(database => insertRuns(database, options.listed))
    const api = new Api(rig.engine.origin)
    const figures: Record<string, Figures> = {}
    for (const sort of SORTS) {
      for (const dir of DIRS) figures[`${sort} ${dir}`] = await order(api, `sort=${sort}&dir=${dir}`)
    }
    const since = new Date(sample.recentFrom).toISOString()
    const filters = [
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
      'parentRunId=run_none',
      'error=0000000000000000',
      `eventId=${sample.eventId}`,
      `replayOf=${sample.replayedId}`,
      `since=${since}&sort=duration`,
      'app=app-3&sort=duration',
      'q=workflow-1',
      'q=no-such-thing',
      `q=no-such-thing&since=${since}`,
      'q=no-such-thing&deep=1',
      `q=no-such-thing&deep=1&since=${since}`,
    ]
    for (const filter of filters) figures[short(filter)] = await timed(api, `/runs?${filter}`)
    for (const scope of ['', '?app=app-3', `?since=${since}`]) {
      figures[short(`stats${scope}`)] = await timed(api, `/runs/stats${scope}`)
    }
    for (const read of statistics(sample)) figures[short(read)] = await timed(api, read)
    api.close()
    const title = `${options.listed.toLocaleString('en-US')} runs, pages of 30`
    return [{ workload: 'LISTS', title, figures, notes: NOTES, problems: api.problems, profiles: [] }]
  } finally {
    await rig.close()
  }
}

/** Over the whole month and over its last hours. */
function statistics({ recentFrom, until }: Sample): string[] {
  const time = (at: number) => encodeURIComponent(new Date(at).toISOString())
  const [recent, month] = [time(recentFrom), time(until - 30 * DAY_MS)]
  return [
    ...[`since=${recent}`, `since=${month}`, `since=${month}&app=app-3`, `since=${month}&workflow=workflow-3`].map(
      query => `/runs/series?${query}&until=${time(until)}`,
    ),
    `/runs/series?since=${month}&until=${time(until)}&step=1d`,
    `/runs/series?since=${time(until - 2 * DAY_MS)}&until=${time(until)}&step=5m`,
    `/workflows/stats?since=${recent}`,
    `/workflows/stats?since=${month}`,
    `/workflows/stats?since=${month}&workflow=workflow-3`,
    '/runs/facets',
    `/runs/facets?since=${recent}`,
    `/errors?since=${recent}`,
    `/errors?since=${month}`,
  ]
}

const NOTES = [
  'written straight into the database; all requests go through the API',
  'a search that takes longer than 5 s is answered 400, which is a figure here, not a problem',
]

/** Measures the first page, and the page after `DEEP_PAGE - 1` others. */
async function order(api: Api, query: string): Promise<Figures> {
  const first = await timed(api, `/runs?${query}`)
  let cursor: string | undefined
  for (let page = 1; page < DEEP_PAGE; page++) {
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
async function timed(api: Api, path: string): Promise<Figures> {
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

/** The query as a label, without the timestamp. */
function short(filter: string): string {
  return filter.replace(/(since|until)=[^&]+/g, '$1').replace(/=(run|evt)_\w+/, '')
}

class Api {
  readonly problems: string[] = []
  readonly #origin: string
  readonly #agent = new Agent({ keepAlive: true })

  constructor(origin: string) {
    this.#origin = origin
  }

  get(path: string): Promise<{ status: number; rows: number; cursor: string | undefined }> {
    return new Promise((resolve, reject) => {
      const call = request(this.#origin + path, { agent: this.#agent }, response => {
        const chunks: Buffer[] = []
        response.on('data', chunk => chunks.push(chunk))
        response.on('end', () => {
          const { statusCode: status = 0, headers } = response
          const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
          if (status !== 200 && status !== 400) this.problems.push(`GET ${path} answered ${status}`)
          const cursor = headers['x-next-cursor'] as string | undefined
          resolve({ status, rows: Array.isArray(body) ? body.length : 0, cursor })
        })
      })
      call.on('error', reject)
      call.end()
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
