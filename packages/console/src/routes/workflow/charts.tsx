// The charts of a workflow: starts and ends, percentiles of durations, and how long runs waited for their first pass; with marks
// where the definition changed.

import type { Calls } from '@perdure/client'
import { useRead } from '../../data/queries.ts'
import { useNow } from '../../data/time/clock.ts'
import { useNavigate } from '../../router/router.tsx'
import type { ChartLine } from '../../ui/chart/chart.tsx'
import { DurationChart, type DurationChartProps } from '../../ui/chart/duration-chart.tsx'
import type { ChartMark } from '../../ui/chart/marks.tsx'
import { RunChart } from '../../ui/chart/run-chart.tsx'
import { seriesWindow, type TimeWindow, windowOf, zoomedOut } from '../../ui/chart/series-window.ts'
import { ZoomActions } from '../../ui/chart/zoom.tsx'
import { Loaded, type ReadState } from '../../ui/states/loaded.tsx'
import { Panel } from '../../ui/states/page.tsx'

type Point = Calls['getRunSeries']['reply'][number]

const DURATIONS: readonly ChartLine<Point>[] = [
  { kind: 'p50', of: ({ p50Ms }) => p50Ms },
  { kind: 'p95', of: ({ p95Ms }) => p95Ms },
  { kind: 'p99', of: ({ p99Ms }) => p99Ms },
]
const QUEUE_WAIT: readonly ChartLine<Point>[] = [{ kind: 'p95', of: ({ queueP95Ms }) => queueP95Ms }]

export interface ChartsProps {
  app: string
  workflow: string
  from: string | undefined
  until: string | undefined
  marks: readonly ChartMark[]
  onMark(mark: ChartMark): void
  /** The user chose a part of the time, or more of it. */
  onWindow(window: TimeWindow): void
}

export function Charts({ app, workflow, from, until, marks, onMark, onWindow }: ChartsProps) {
  const navigate = useNavigate()
  const nowMs = useNow()
  const series = useRead('getRunSeries', { app, workflow, ...seriesWindow(from, until, nowMs) })
  const zoomOut = () => onWindow(zoomedOut({ from, until }, nowMs))
  const drawn = {
    nowMs,
    marks,
    onMark,
    onChoose: (fromMs: number, toMs: number) =>
      navigate({ to: 'runs', query: { app, workflow, ...windowOf(fromMs, toMs) } }),
    onZoom: (fromMs: number, toMs: number) => onWindow(windowOf(fromMs, toMs)),
    onZoomOut: zoomOut,
  }
  return (
    <>
      <Panel
        title="Runs over time"
        actions={
          <ZoomActions
            isZoomed={until !== undefined}
            onZoomOut={zoomOut}
            runs={{ app, workflow, since: from, until }}
          />
        }
      >
        <Loaded query={series} rows={4}>
          {points => <RunChart label={`Runs of ${workflow} over time`} points={points} {...drawn} />}
        </Loaded>
      </Panel>
      <DurationPanel
        title="Run duration"
        label={`Duration of ${workflow} runs`}
        lines={DURATIONS}
        series={series}
        {...drawn}
      />
      <DurationPanel
        title="Queue time"
        label={`Queue time of ${workflow} runs`}
        lines={QUEUE_WAIT}
        series={series}
        {...drawn}
      />
    </>
  )
}

type DurationPanelProps = Omit<DurationChartProps<Point>, 'points'> & {
  title: string
  series: ReadState<readonly Point[]>
}

function DurationPanel({ title, series, ...chart }: DurationPanelProps) {
  return (
    <Panel title={title}>
      <Loaded query={series} rows={4}>
        {points => <DurationChart points={points} {...chart} />}
      </Loaded>
    </Panel>
  )
}
