// The tab with the timeline: tools, the overview, the waterfall or its table, and the inspector of the selected step.

import { useMemo, useRef } from 'react'
import { itemsOf, usePages } from '../../data/queries.ts'
import { useKeys } from '../../keys/keys.ts'
import { useQuery } from '../../router/router.tsx'
import { Button } from '../../ui/button.tsx'
import { Polite } from '../../ui/overlay/polite.tsx'
import { FilteredEmpty } from '../../ui/states/empty.tsx'
import { canOpen, type RowOrder } from '../../waterfall/folds.ts'
import { nextStop, passStretches } from '../../waterfall/pass-walk.ts'
import { spansOfFrames, spansOfRecords } from '../../waterfall/passes.ts'
import { spanAround, zoomAt } from '../../waterfall/scale.ts'
import { Overview } from '../../waterfall/view/overview.tsx'
import { Waterfall } from '../../waterfall/view/waterfall.tsx'
import { Inspector } from './inspector/inspector.tsx'
import type { RunView } from './model/use-run.ts'
import { Scrubber } from './scrubber.tsx'
import { StepTable } from './step-table.tsx'
import css from './timeline-tab.module.css'
import { type Drawn, type Timeline, useTimeline } from './use-timeline.ts'

export interface TimelineTabProps {
  view: RunView
  drawn: Drawn
  onRetry(stepName: string): void
}

export function TimelineTab({ view, drawn, onRetry }: TimelineTabProps) {
  const [get] = useQuery('run')
  const timeline = useTimeline(drawn, view)
  useTimelineKeys(timeline, { drawn, view })
  const { spans: passes, more } = usePassSpans(view)
  const { rows, axis, span, setSpan, selected } = timeline
  const zoomTo = (key: string) => {
    const row = rows.find(row => row.key === key)
    if (row) setSpan(spanOfRow(row, timeline, drawn.endMs))
  }
  if (drawn.latest.length === 0) return <NoSteps view={view} />
  return (
    <div className={css.tab}>
      <Tools
        timeline={timeline}
        view={view}
        passes={more && { count: passes.length, more }}
        onNextFailed={rows.some(hasFailed) ? () => selectFailed(timeline, 1) : undefined}
      />
      {drawn.moment && <Scrubber view={view} drawn={drawn} />}
      <div className={css.split} data-inspecting={selected !== undefined || undefined}>
        <div className={css.main}>
          {get('as') === 'table' ? (
            <StepTable rows={rows} endMs={drawn.openMs} selected={selected?.key} onSelect={timeline.select} />
          ) : (
            <>
              <Overview bars={drawn.bars} axis={axis} span={span} endMs={drawn.openMs} onSpan={setSpan} />
              <Waterfall
                rows={rows}
                rowsMin={timeline.rowsMin}
                axis={axis}
                span={span}
                endMs={drawn.openMs}
                momentMs={drawn.moment?.ms}
                passes={passes}
                selected={selected?.key}
                critical={timeline.critical}
                label={`Timeline of ${view.run.workflow}`}
                onSelect={timeline.select}
                onToggle={timeline.toggle}
                onZoom={zoomTo}
                onSpan={setSpan}
              />
              {rows.length === 0 && <NoRows timeline={timeline} />}
            </>
          )}
        </div>
        {selected && (
          <Inspector
            row={selected}
            view={view}
            onClose={() => timeline.select(undefined)}
            onZoom={() => zoomTo(selected.key)}
            onRetry={onRetry}
          />
        )}
      </div>
    </div>
  )
}

/** Number of passes drawn at first; the others are read on request. */
const PASSES_MAX = 200

/** Returns the passes as the engine lists them; for a bundle, as its frames show them. */
function usePassSpans({ run, frames, originMs, isBundle = false, hasAllSteps }: RunView) {
  const input = { id: run.id, limit: PASSES_MAX }
  const pages = usePages('listRunPasses', input, { keep: false, enabled: !isBundle && hasAllSteps })
  const { data } = pages
  const spans = useMemo(
    () => (isBundle || !data ? spansOfFrames(frames, originMs) : spansOfRecords(itemsOf({ data }), originMs)),
    [data, frames, originMs, isBundle],
  )
  return { spans, more: pages.hasNextPage ? () => void pages.fetchNextPage() : undefined }
}

function NoSteps({ view }: { view: RunView }) {
  return (
    <p className={css.none}>{view.isLive ? 'No steps yet: see the line above.' : 'The run ended without steps.'}</p>
  )
}

/** Shown if the run has steps, but none is visible. */
function NoRows({ timeline: { filter, setFilter } }: { timeline: Timeline }) {
  const [get, set] = useQuery('run')
  const filters = [
    ...(filter === '' ? [] : [{ label: `name:${filter}`, drop: () => setFilter('') }]),
    ...(get('hide') === 'done' ? [{ label: 'Hide done', drop: () => set({ hide: undefined }) }] : []),
    ...(get('only') === 'failed' ? [{ label: 'Only failed', drop: () => set({ only: undefined }) }] : []),
  ]
  if (filters.length === 0) return <p className={css.none}>No step had started yet.</p>
  return <FilteredEmpty what="steps" filters={filters} />
}

/** Returns the part of the axis around a row. */
function spanOfRow(row: Timeline['rows'][number], { axis }: Timeline, endMs: number) {
  const { fromMs, toMs = endMs } = row.kind === 'bar' ? row.bar : row.fold
  return spanAround({ fromMs: axis.place(fromMs), toMs: axis.place(toMs) }, axis.all)
}

const ORDERS: Record<RowOrder, string> = { index: 'in order', start: 'by start', duration: 'longest first' }

interface ToolsProps {
  timeline: Timeline
  view: RunView
  /** The number of passes drawn, if there are more. */
  passes: { count: number; more(): void } | undefined
  /** Absent if no step has failed. */
  onNextFailed: (() => void) | undefined
}

function Tools({ timeline, view, passes, onNextFailed }: ToolsProps) {
  const [get, set] = useQuery('run')
  const { axis, span, setSpan, filter, setFilter } = timeline
  const field = useRef<HTMLInputElement>(null)
  useKeys('Timeline', [{ keys: 'f', label: 'filter by name', run: () => field.current?.select() }])
  const isAll = span.fromMs <= axis.all.fromMs && span.toMs >= axis.all.toMs
  const pressed = (name: 'hide' | 'only' | 'as' | 'idle' | 'critical', value: string) => ({
    'aria-pressed': get(name) === value,
    onClick: () => set({ [name]: get(name) === value ? undefined : value }),
  })
  return (
    <div className={css.tools} role="toolbar" aria-label="Timeline">
      <input
        ref={field}
        type="search"
        className={css.filter}
        title="Filter by name (f)"
        placeholder="Filter by name"
        aria-label="Filter steps by name"
        value={filter}
        onChange={event => setFilter(event.target.value)}
      />
      <select
        className={css.order}
        aria-label="Order of the steps"
        value={get('order') ?? 'index'}
        onChange={event => set({ order: event.target.value === 'index' ? undefined : event.target.value })}
      >
        {Object.entries(ORDERS).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <Button {...pressed('hide', 'done')} title="Hide completed steps (h)">
        Hide done
      </Button>
      <Button {...pressed('only', 'failed')}>Only failed</Button>
      <Button {...pressed('idle', 'skip')}>Skip idle</Button>
      <Button {...pressed('critical', '1')}>Critical path</Button>
      <Button {...pressed('as', 'table')}>As table</Button>
      <Button
        aria-pressed={get('seq') !== undefined}
        title="Step through the run, pass by pass ([ and ])"
        onClick={() => set({ seq: get('seq') === undefined ? '1' : undefined })}
      >
        Scrub
      </Button>
      {!isAll && (
        <Button title="Show the whole run (0), zoom (+ -)" onClick={() => setSpan(axis.all)}>
          Zoom out
        </Button>
      )}
      {onNextFailed && (
        <Button title="Next failed step (n), previous (N)" onClick={onNextFailed}>
          Next failed
        </Button>
      )}
      {passes && (
        <Button title="Load the next passes" onClick={passes.more}>
          First {passes.count} passes: load more
        </Button>
      )}
      {!view.hasAllSteps && <Polite className="mute" text={`First ${view.steps.length} steps; loading more…`} />}
    </div>
  )
}

const hasFailed = (row: Timeline['rows'][number]) =>
  row.kind === 'bar' ? row.bar.status === 'failed' : row.fold.failed > 0

/**
 * Selects the next failed step, or the previous one; the selection stays if there is none. A selected fold is opened first, so
 * that its failed steps come next.
 */
function selectFailed({ rows, selected, select, toggle }: Timeline, by: 1 | -1): void {
  if (by === 1 && selected?.kind === 'fold' && !selected.isOpen && hasFailed(selected)) {
    toggle(selected.key)
    return
  }
  const place = rows.findIndex(row => row.key === selected?.key)
  const next = by === 1 ? rows.slice(place + 1).find(hasFailed) : rows.slice(0, Math.max(place, 0)).findLast(hasFailed)
  select((next ?? selected)?.key)
}

/** The keys of the timeline. */
function useTimelineKeys(timeline: Timeline, { drawn, view }: { drawn: Drawn; view: RunView }): void {
  const [get, set] = useQuery('run')
  const { rows, selected, select, toggle, axis, span, setSpan } = timeline
  const place = rows.findIndex(row => row.key === selected?.key)
  const move = (to: number) => select(rows[Math.min(Math.max(to, 0), rows.length - 1)]?.key)
  const fold = (opens: boolean) => {
    if (selected && canOpen(selected) && selected.isOpen !== opens) toggle(selected.key)
    else if (!opens && selected && selected.depth > 0)
      select(rows.slice(0, place).findLast(({ depth }) => depth < selected.depth)?.key)
  }
  const stepBy = (by: 1 | -1) => {
    const next = nextStop(passStretches(view.frames, view.steps), drawn.moment?.seq, by)
    set({ seq: next === undefined ? undefined : String(next) })
  }
  const isMoment = get('seq') !== undefined
  useKeys('Timeline', [
    ...(selected || isMoment
      ? [
          {
            keys: 'Escape',
            label: selected ? 'close the inspector' : 'show the run as it is now',
            run: () => (selected ? select(undefined) : set({ seq: undefined })),
          },
        ]
      : []),
    { keys: 'ArrowDown', label: 'next step', run: () => move(place + 1) },
    { keys: 'ArrowUp', label: 'previous step', run: () => move(place === -1 ? 0 : place - 1) },
    { keys: 'ArrowRight', label: 'unfold', run: () => fold(true) },
    { keys: 'ArrowLeft', label: 'fold', run: () => fold(false) },
    {
      keys: 'n',
      label: 'next failed step',
      run: () => selectFailed(timeline, 1),
    },
    {
      keys: 'N',
      label: 'previous failed step',
      run: () => selectFailed(timeline, -1),
    },
    {
      keys: 'z',
      label: 'zoom to the step',
      run: () => selected && setSpan(spanOfRow(selected, timeline, drawn.endMs)),
    },
    { keys: '0', label: 'show the whole run', run: () => setSpan(axis.all) },
    { keys: '+', label: 'zoom in', run: () => setSpan(zoomAt(span, 0.5, 0.5, axis.all)) },
    { keys: '-', label: 'zoom out', run: () => setSpan(zoomAt(span, 2, 0.5, axis.all)) },
    {
      keys: 'h',
      label: 'hide completed steps',
      run: () => set({ hide: get('hide') === 'done' ? undefined : 'done' }),
    },
    { keys: '[', label: 'previous pass', run: () => stepBy(-1) },
    { keys: ']', label: 'next pass', run: () => stepBy(1) },
  ])
}
