// LISTS: pages of runs and their counts over a large store, read through the API. The runs are written straight into the
// store, a few thousand per transaction: driving a million runs would take an hour and change nothing about how they are listed.

import { Api } from '../load/api.ts'
import { timed } from '../measure/latency.ts'
import type { Figures, Outcome } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'
import { onRig } from '../rig/rig.ts'
import { openServer } from '../rig/server.ts'
import { APART, insertRuns, RARE_ATTRIBUTE, type Sample } from './seeds/listed-runs.ts'
import { type Details, insertDetails } from './seeds/stored-details.ts'

const SORTS = ['started', 'workflow', 'status', 'app', 'duration'] as const
const DIRS = ['desc', 'asc'] as const
const DEEP_PAGE = 1000
/**
 * Rows of a measured page, and of the pages before the deep one, which have the maximum size: a cursor fits pages of any size.
 */
const PAGE = 30
const STRIDE = 200
/** Slow requests are repeated fewer times. */
const SAMPLING = { samples: 20, spentMsMax: 2000 }
/** There are many pairs of filters: a page that takes half a second is measured once. */
const PAIR_SAMPLING = { samples: 7, spentMsMax: 500 }
/** Maximum p50 of a page under two filters. */
const BAR_MS = 10
const DAY_MS = 86_400_000

export async function lists(options: BenchOptions): Promise<Outcome[]> {
  const title = `${options.listed.toLocaleString('en-US')} runs, pages of ${PAGE}`
  let [sample, details] = [undefined as Sample | undefined, undefined as Details | undefined]
  const setup = {
    async fill(store: Parameters<typeof insertRuns>[0]) {
      sample = await insertRuns(store, options.listed)
      details = await insertDetails(store, sample.until, options.listed)
    },
  }
  const { outcomes } = await onRig(options, setup, async rig => {
    const reads = new Reads(rig.engine.url, sample as Sample)
    const all = await reads.lists()
    const pairs = await reads.pairs()
    const single = await reads.details(details as Details)
    await reads.api.close()
    return {
      outcomes: [
        {
          title,
          figures: all,
          notes: [
            'written straight into the database; all requests go through the API',
            'a search that takes longer than 5 s is answered 400, which is a figure here, not a problem',
          ],
          problems: reads.problems,
        },
        {
          title: `${title}: two filters, p50 ms by order`,
          figures: pairs,
          notes: ['for each pair of filters the first page in every order, the worse of its two directions'],
        },
        {
          title: `${title}: trees, passes, limits`,
          figures: single,
          notes: [
            'one post to an endpoint for each run; 1,000 runs hold slots, 2,000 wait for them, 5,000 buffers are open',
          ],
        },
      ],
    }
  })
  return outcomes
}

class Reads {
  readonly problems: string[] = []
  readonly api: Api
  readonly #sample: Sample
  /** Times of the sample in the form of a request, and their names in a label. */
  readonly #times: Record<'recent' | 'month' | '2d' | 'week' | 'now' | 'day', string>

  constructor(origin: string, sample: Sample) {
    this.api = new Api(origin, { connections: 1 })
    this.#sample = sample
    const before = (days: number) => new Date(sample.until - days * DAY_MS).toISOString()
    const recent = new Date(sample.recentFrom).toISOString()
    this.#times = { recent, month: before(30), '2d': before(2), week: before(7), now: before(0), day: before(1) }
  }

  /** Pages in every order, pages under common filters, and statistics. */
  async lists(): Promise<Record<string, Figures>> {
    const figures: Record<string, Figures> = {}
    for (const sort of SORTS)
      for (const dir of DIRS) figures[`${sort} ${dir}`] = await this.#order(`sort=${sort}&dir=${dir}`)
    const filters = [...this.#filters(), ...attributeFilters()].map(filter => `/runs?${filter}`)
    for (const path of [...filters, ...this.#statistics()]) figures[this.#short(path)] = await this.#timed(path)
    return figures
  }

  /**
   * Returns, for each pair, the p50 of its first page in each order, in the slower direction; and how many pages exceed the
   * limit.
   */
  async pairs(): Promise<Record<string, Figures>> {
    const figures: Record<string, Figures> = {}
    const filters = this.#pairedFilters()
    let [pages, over] = [0, 0]
    for (const [i, [first, query]] of filters.entries()) {
      for (const [second, further] of filters.slice(i + 1)) {
        // Two statuses, or two kinds of runs, count as one filter.
        if (first.split(' ')[0] === second.split(' ')[0]) continue
        const row: Figures = {}
        for (const sort of SORTS) {
          const both: Figures[] = []
          for (const dir of DIRS)
            both.push(await this.#timed(`/runs?${query}&${further}&sort=${sort}&dir=${dir}`, PAIR_SAMPLING))
          const of = (name: string) => both.map(one => one[name] as number)
          row[sort] = Math.max(...of('p50 ms'))
          row.rows = of('rows')[0] as number
          row['http status'] = Math.max(...of('status'))
          pages += both.length
          over += of('p50 ms').filter(ms => ms > BAR_MS).length
        }
        figures[`${first} and ${second}`] = row
      }
    }
    figures['pages of pairs'] = { pages, [`over ${BAR_MS} ms`]: over }
    return figures
  }

  /** Measures reads of one run, event or limit, while runs hold slots and buffers are open. */
  async details(details: Details): Promise<Record<string, Figures>> {
    const runner = await holdRuns(this.api)
    const figures: Record<string, Figures> = {}
    for (const [name, path] of Object.entries(this.#singles(details))) figures[name] = await this.#timed(path)
    runner.close()
    return figures
  }

  async #timed(path: string, sampling = SAMPLING): Promise<Figures> {
    let [rows, status] = [0, 0]
    const read = async () => {
      const answer = await this.api.call('GET', path)
      const body: unknown = JSON.parse(answer.text)
      rows = Array.isArray(body) ? body.length : 0
      status = answer.status
    }
    const { p50, p95, max, count } = await timed(read, sampling)
    if (status !== 200 && status !== 400) this.problems.push(`GET ${path} answered ${status}`)
    return { 'p50 ms': p50, 'p95 ms': p95, 'max ms': max, rows, status, requests: count }
  }

  /** Measures the first page, and the page after `DEEP_PAGE - 1` others. */
  async #order(query: string): Promise<Figures> {
    const first = await this.#timed(`/runs?${query}`)
    let cursor = ''
    for (let rows = 0; rows < (DEEP_PAGE - 1) * PAGE; rows += STRIDE) {
      const next = (await this.api.call('GET', `/runs?${query}&limit=${STRIDE}${cursor}`)).cursor
      if (next === undefined) break
      cursor = `&cursor=${next}`
    }
    const deep = await this.#timed(`/runs?${query}${cursor}`)
    return {
      'page 1 p50 ms': first['p50 ms'] as number,
      'max ms': first['max ms'] as number,
      [`page ${DEEP_PAGE} p50 ms`]: deep['p50 ms'] as number,
      'its max ms': deep['max ms'] as number,
      rows: deep.rows as number,
    }
  }

  #filters(): string[] {
    const { eventId, replayedId, parentId, fingerprint } = this.#sample
    const since = `since=${this.#times.recent}`
    return [
      'app=app-3',
      'status=failed',
      'status=running',
      'runType=cron',
      since,
      `app=app-3&${since}`,
      'app=app-3&status=failed',
      'workflow=workflow-3',
      'workflow=workflow-3&status=failed',
      'status=failed,cancelled',
      `until=${this.#times.recent}`,
      'waitingFor=event',
      `parentRunId=${parentId}`,
      `error=${fingerprint}`,
      `eventId=${eventId}`,
      `replayOf=${replayedId}`,
      `${since}&sort=duration`,
      'app=app-3&sort=duration',
      'q=workflow-1',
      'q=no-such-thing',
      `q=no-such-thing&${since}`,
      'q=no-such-thing&deep=1',
      `q=no-such-thing&deep=1&${since}`,
    ]
  }

  /** Returns filters that each match many runs, or are a part of every list. Two of them together match no run, or only a few. */
  #pairedFilters(): [name: string, query: string][] {
    const { eventId, parentId, fingerprint } = this.#sample
    const { recent } = this.#times
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

  /** Returns statistics over the whole month and over its last hours. */
  #statistics(): string[] {
    const { recent, month, week, now, '2d': days } = this.#times
    return [
      ...['', '?app=app-3', `?since=${recent}`].map(scope => `/runs/stats${scope}`),
      ...[`since=${recent}`, `since=${month}`, `since=${month}&app=app-3`, `since=${month}&workflow=workflow-3`].map(
        query => `/runs/series?${query}&until=${now}`,
      ),
      `/runs/series?since=${month}&until=${now}&step=1d`,
      `/runs/series?since=${days}&until=${now}&step=5m`,
      `/workflows/stats?since=${recent}`,
      `/workflows/stats?since=${month}`,
      `/workflows/stats?since=${month}&workflow=workflow-3`,
      `/workflows/stats?since=${week}&trend=32`,
      '/runs/facets',
      `/runs/facets?since=${recent}`,
      `/errors?since=${recent}`,
      `/errors?since=${month}`,
      `/errors?since=${month}&trend=24&runners=10`,
    ]
  }

  #singles({ eventId, chainEventId, longRunId, endpointId }: Details): Record<string, string> {
    const { parentId } = this.#sample
    const { now, day, month, '2d': days } = this.#times
    const series = '/webhook-endpoints/series'
    return {
      'tree of an event with 520 nodes': `/events/${eventId}/tree`,
      'tree of an event, 24 levels': `/events/${chainEventId}/tree`,
      'tree of a run with 5,000 children': `/runs/${parentId}/tree`,
      'tree of a run of 10,000 steps': `/runs/${longRunId}/tree`,
      'passes of that run': `/runs/${longRunId}/passes`,
      '200 passes': `/runs/${longRunId}/passes?limit=200`,
      'bundle of that run': `/runs/${longRunId}/bundle`,
      'bundle of a short run': `/runs/${parentId}/bundle`,
      limits: '/limits',
      'limits of a workflow': '/limits?app=held&workflow=limited',
      buffers: '/buffers',
      '200 buffers of a workflow': '/buffers?limit=200&app=held&workflow=batched',
      'endpoint series of a day': `${series}?since=${day}&until=${now}`,
      'endpoint series of a month': `${series}?since=${month}&until=${now}`,
      'of one endpoint': `${series}?since=${month}&until=${now}&endpointId=${endpointId}`,
      'of 2 days by 5 minutes': `${series}?since=${days}&until=${now}&step=5m`,
    }
  }

  /** Returns the request as a label: times appear by name, so that reads of different spans stay separate. */
  #short(path: string): string {
    const named = Object.entries(this.#times).reduce((text, [name, time]) => text.replaceAll(time, name), path)
    return named.replace(/^\/runs\?/, '').replace(/=(run|evt)_\w+/, '')
  }
}

/** Returns each attribute alone, and with a filter that matches many, some or none of its runs. */
function attributeFilters(): string[] {
  const filters = [
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
  ]
  return [RARE_ATTRIBUTE, APART.attribute].flatMap(text => filters.map(rest => `attribute=${text}${rest}`))
}

const KEYS = 200
/** More than an engine leases at once, so that the others wait. */
const HELD_RUNS = 3000
const BUFFERS = 5000
const PER_REQUEST = 1000

/** Starts runs that hold and wait for slots of a runner that never answers, and opens buffers. */
async function holdRuns(api: Api): Promise<{ close(): void }> {
  const runner = await openServer(() => {})
  const key = 'string(event.data.key)'
  await api.post('/register', {
    app: 'held',
    runner: 'held-1',
    protocolVersion: 1,
    url: `${runner.origin}/invoke`,
    workflows: [
      { name: 'limited', triggers: [{ event: 'held/run' }], concurrency: { limit: 5, key } },
      { name: 'batched', triggers: [{ event: 'held/batch' }], batch: { maxSize: 100, timeout: '1h', key } },
    ],
  })
  const send = async (name: string, count: number, keyOf: (i: number) => number) => {
    for (let from = 0; from < count; from += PER_REQUEST) {
      const events = Array.from({ length: PER_REQUEST }, (_, i) => ({ name, data: { key: keyOf(from + i) } }))
      await api.post('/events/batch', events)
    }
  }
  await send('held/run', HELD_RUNS, i => i % KEYS)
  await send('held/batch', BUFFERS, i => i)
  return runner
}
