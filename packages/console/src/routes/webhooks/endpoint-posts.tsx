// Posts to endpoints over time: a line in the list, and a chart on the page of one endpoint.

import type { Calls } from '@perdure/client'
import { useMemo } from 'react'
import { useRead } from '../../data/queries.ts'
import { engineNow } from '../../data/time/clock.ts'
import { sinceParam } from '../../data/time/window.ts'
import { useQuery } from '../../router/router.tsx'
import { PostChart, Sparkline } from '../../ui/chart/post-chart.tsx'
import { seriesWindow } from '../../ui/chart/series-window.ts'
import { durationText } from '../../ui/duration.ts'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Panel } from '../../ui/states/page.tsx'
import css from './webhooks.module.css'

type Point = Calls['getWebhookEndpointSeries']['reply'][number]

/** How the posts of 24 hours went: the share that succeeded, and the newest durations as a line. */
export function PostsOfDay({ endpointId }: { endpointId: string }) {
  const { data: points } = useRead('getWebhookEndpointSeries', { endpointId })
  if (!points) return null
  const { succeeded, failed } = totalOf(points)
  if (succeeded + failed === 0) return <span className={css.mute}>no post in 24 h</span>
  const newest = points.findLast(({ p95Ms }) => p95Ms !== undefined)?.p95Ms
  const slow = newest === undefined ? '' : `p95 ${durationText(newest)} ±9 %`
  return (
    <span className={css.day} title={`${succeeded} of ${succeeded + failed} posts in 24 h succeeded; ${slow}`}>
      {shareText(succeeded, failed)} <Sparkline label={`Durations of 24 hours, ${slow}`} points={points} />
    </span>
  )
}

/** The posts to one endpoint in a window of time. */
export function EndpointPosts({ endpointId }: { endpointId: string }) {
  const [get, set] = useQuery('endpoint')
  const since = get('since') ?? '24h'
  const until = get('until')
  // A relative window begins anew only when the URL changes.
  const input = useMemo(() => {
    const nowMs = engineNow()
    return { endpointId, ...seriesWindow(sinceParam(since, nowMs), until, nowMs) }
  }, [endpointId, since, until])
  const query = useRead('getWebhookEndpointSeries', input)
  return (
    <Panel title="Posts">
      <FilterBar
        label="Window of the chart"
        fields={[
          {
            name: 'since',
            label: 'Since',
            value: since,
            choices: ['1h', '24h', '7d', '30d'],
            onChange: since => set({ since, until: undefined }),
          },
          ...(until === undefined
            ? []
            : [{ name: 'until', label: 'Until', value: until, onChange: (until?: string) => set({ until }) }]),
        ]}
      />
      <Loaded query={query}>
        {points => (
          <>
            <p className={css.share}>{sentenceOf(points)}</p>
            <PostChart label="Posts to this endpoint" points={points} nowMs={engineNow()} />
          </>
        )}
      </Loaded>
    </Panel>
  )
}

function sentenceOf(points: readonly Point[]): string {
  const { succeeded, failed } = totalOf(points)
  if (succeeded + failed === 0) return 'No post in this window.'
  return `${succeeded} of ${succeeded + failed} posts succeeded: ${shareText(succeeded, failed)}.`
}

function totalOf(points: readonly Point[]): { succeeded: number; failed: number } {
  const sum = (of: 'succeeded' | 'failed') => points.reduce((all, point) => all + point[of], 0)
  return { succeeded: sum('succeeded'), failed: sum('failed') }
}

/** In whole percent, but 100 only if none failed and 0 only if none succeeded. */
function shareText(succeeded: number, failed: number): string {
  const share = Math.round((100 * succeeded) / (succeeded + failed))
  if (failed > 0 && share === 100) return '>99 %'
  return succeeded > 0 && share === 0 ? '<1 %' : `${share} %`
}
