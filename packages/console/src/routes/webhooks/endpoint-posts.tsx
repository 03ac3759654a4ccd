// Posts to endpoints over time: a line in the list, and a chart on the page of one endpoint.

import type { Calls } from '@perdure/client'
import { useMemo } from 'react'
import { useRead } from '../../data/queries.ts'
import { engineNow } from '../../data/time/clock.ts'
import { useQuery } from '../../router/router.tsx'
import { PostChart, Sparkline } from '../../ui/chart/post-chart.tsx'
import { seriesWindow } from '../../ui/chart/series-window.ts'
import { durationText } from '../../ui/duration.ts'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { useTime } from '../../ui/range/use-time.ts'
import { windowFields } from '../../ui/states/filter-fields.ts'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Panel } from '../../ui/states/page.tsx'
import css from './webhooks.module.css'

type Point = Calls['getWebhookEndpointSeries']['reply'][number]

/** The result of the posts of 24 hours: the share that succeeded, and the newest durations as a line. */
export function PostsOfDay({ endpointId }: { endpointId: string }) {
  const { data: points } = useRead('getWebhookEndpointSeries', { endpointId })
  if (!points) return null
  const { succeeded, failed } = totalOf(points)
  if (succeeded + failed === 0) return <span className="mute">no deliveries</span>
  const newest = newestAnswered(points)
  const slow = newest ? `, p95 ${durationText(newest.p95Ms)} ±9 %` : ''
  return (
    <span className={css.day} title={`${succeeded} of ${succeeded + failed} deliveries in 24 h succeeded`}>
      <span>{shareText(succeeded, failed)}</span> <Sparkline label={`Durations over 24 hours${slow}`} points={points} />
    </span>
  )
}

/** Returns how many posts of 24 hours succeeded and failed, once this is read. */
export function usePostsOfDay(endpointId: string): { succeeded: number; failed: number } | undefined {
  const { data: points } = useRead('getWebhookEndpointSeries', { endpointId })
  return points && totalOf(points)
}

/** The percentiles of the newest of the last 24 hours in which posts were answered. */
export function LatencyOfDay({ endpointId }: { endpointId: string }) {
  const { data: points } = useRead('getWebhookEndpointSeries', { endpointId })
  const newest = points && newestAnswered(points)
  if (!newest) return null
  return (
    <span title={latencyText(newest, 'hour')}>
      {durationText(newest.p50Ms)} / {durationText(newest.p95Ms)}
    </span>
  )
}

interface Answered extends Point {
  p50Ms: number
  p95Ms: number
}

const isAnswered = (point: Point): point is Answered => point.p50Ms !== undefined && point.p95Ms !== undefined
const newestAnswered = (points: readonly Point[]) => points.filter(isAnswered).at(-1)

function latencyText({ p50Ms, p95Ms }: Answered, span: string): string {
  return `Latest ${span} with responses: median ${durationText(p50Ms)}, p95 ${durationText(p95Ms)} (±9 %)`
}

/** The posts to one endpoint in a window of time. */
export function EndpointPosts({ endpointId }: { endpointId: string }) {
  const [get, set] = useQuery('endpoint')
  const since = get('since') ?? '24h'
  const until = useTime(get('until'))
  const from = useTime(since)
  const input = useMemo(() => ({ endpointId, ...seriesWindow(from, until, engineNow()) }), [endpointId, from, until])
  const query = useRead('getWebhookEndpointSeries', input)
  return (
    <Panel title="Deliveries">
      <FilterBar
        label="Window of the chart"
        fields={[...windowFields({ since, until: get('until'), isRequired: true }, set)]}
      />
      <Loaded query={query}>
        {points => (
          <>
            <p className={css.share}>
              {[sentenceOf(points), ...latencySentences(points, SPANS[input.step])].join(' ')}
            </p>
            <PostChart label="Deliveries to this endpoint" points={points} nowMs={engineNow()} />
          </>
        )}
      </Loaded>
    </Panel>
  )
}

function sentenceOf(points: readonly Point[]): string {
  const { succeeded, failed } = totalOf(points)
  if (succeeded + failed === 0) return 'No deliveries in this window.'
  return `${succeeded} of ${succeeded + failed} deliveries succeeded: ${shareText(succeeded, failed)}.`
}

const SPANS = { '5m': 'five minutes', '1h': 'hour', '1d': 'day' } as const

/** Describes how long the posts of the newest span took, and those of the slowest span. */
function latencySentences(points: readonly Point[], span: string): string[] {
  const answered = points.filter(isAnswered)
  const newest = answered.at(-1)
  if (!newest) return []
  const slowest = Math.max(...answered.map(({ p95Ms }) => p95Ms))
  const other = slowest > newest.p95Ms ? [`Slowest ${span}: p95 ${durationText(slowest)}.`] : []
  return [`${latencyText(newest, span)}.`, ...other]
}

function totalOf(points: readonly Point[]): { succeeded: number; failed: number } {
  const sum = (of: 'succeeded' | 'failed') => points.reduce((all, point) => all + point[of], 0)
  return { succeeded: sum('succeeded'), failed: sum('failed') }
}

/** Returns whole percent, but 100 only if none failed and 0 only if none succeeded. */
function shareText(succeeded: number, failed: number): string {
  const share = Math.round((100 * succeeded) / (succeeded + failed))
  if (failed > 0 && share === 100) return '>99 %'
  return succeeded > 0 && share === 0 ? '<1 %' : `${share} %`
}
