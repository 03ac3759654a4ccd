// The state of the timeline: rows, axis, zoom, folds and selection, as the URL stores them.

import { useQueries, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { renew } from '../../data/queries.ts'
import { engineNow, useNow } from '../../data/time/clock.ts'
import { useQuery } from '../../router/router.tsx'
import { useRenewal } from '../../ui/live-list/use-renewal.ts'
import { useReducedMotion } from '../../ui/media.ts'
import { barsOf, type FrameIndex, indexFrames } from '../../waterfall/bars.ts'
import { criticalPath } from '../../waterfall/critical-path.ts'
import { ROW_ORDERS, type Row, rowsOf, stemOf } from '../../waterfall/folds.ts'
import { type Axis, axisWithoutIdle, plainAxis } from '../../waterfall/idle.ts'
import type { Bar, Segment } from '../../waterfall/model.ts'
import { clampSpan, type Span } from '../../waterfall/scale.ts'
import { barsAt, type Moment, momentAt, stopAt, stopsOf } from '../../waterfall/scrub.ts'
import { type StepList, stepsQuery } from './model/steps.ts'
import type { RunView } from './model/use-run.ts'
import { useUrlText } from './model/use-url-text.ts'

/** Maximum number of children whose steps are read at once. */
const CHILDREN_MAX = 50
/** Delay from a change of any run to the next read of the steps of unfolded children. */
const CHILDREN_RENEWAL_MS = 2000
/** Delay before the URL follows the zoom. */
const URL_MS = 300

/** Bars, frames and the end of the axis, before filters and folds. */
export interface Drawn {
  bars: readonly Bar[]
  /** The current bars, no matter which moment is drawn. */
  latest: readonly Bar[]
  index: FrameIndex
  /** The end of the axis: includes the next attempt of a step that is retried. */
  endMs: number
  /** The end of the run, or now. */
  ageMs: number
  /** Where open bars end: at the end of the run, now, or at the moment that is drawn. */
  openMs: number
  moment: Moment | undefined
  stops: readonly number[]
}

/** Returns the bars of the run now, or at the frame that the URL names. */
export function useDrawn(view: RunView): Drawn {
  const [get] = useQuery('run')
  const { steps, frames, originMs, run } = view
  const now = useBarTime(view)
  const index = useMemo(() => indexFrames(frames), [frames])
  const bars = useMemo(() => {
    const all = barsOf(steps, index, originMs)
    // A file has no children to unfold.
    return view.isBundle ? all.map(({ childRunId: _, ...bar }) => bar) : all
  }, [steps, index, originMs, view.isBundle])
  const stops = useMemo(() => stopsOf(frames), [frames])
  const seq = get('seq')
  const moment = useMemo(() => {
    const stop = seq === undefined || !/^\d+$/.test(seq) ? undefined : stopAt(stops, Number(seq))
    return stop === undefined ? undefined : momentAt(frames, stop, originMs)
  }, [frames, stops, seq, originMs])
  const shown = useMemo(() => (moment ? barsAt(bars, moment) : bars), [bars, moment])
  const { lastMs, plannedMs } = useMemo(() => lastTimes(bars), [bars])
  const ended = run.finishedAt === undefined ? undefined : Date.parse(run.finishedAt) - originMs
  const ageMs = ended ?? (view.isLive ? now - originMs : lastMs)
  const pastMs = Math.max(ageMs, lastMs, 1)
  const endMs = Math.max(pastMs, plannedMs)
  const openMs = moment?.ms ?? pastMs
  return useMemo(
    () => ({ bars: shown, latest: bars, index, endMs, ageMs, openMs, moment, stops }),
    [shown, bars, index, endMs, ageMs, openMs, moment, stops],
  )
}

/** Returns when something last happened, and when the last of the next attempts is planned. */
function lastTimes(bars: readonly Bar[]) {
  let lastMs = 0
  let plannedMs = 0
  for (const bar of bars) {
    const { fromMs, toMs = fromMs } = bar.segments.at(-1) as Segment
    lastMs = Math.max(lastMs, bar.toMs ?? fromMs)
    plannedMs = Math.max(plannedMs, toMs)
  }
  return { lastMs, plannedMs }
}

/** Returns where open bars end: moved once a second, or with reduced motion, only when the run changes. */
function useBarTime({ steps, frames, run }: RunView): number {
  const now = useNow()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the run moves the bars.
  const changedAt = useMemo(() => engineNow(), [steps, frames, run])
  return useReducedMotion() ? changedAt : now
}

export interface Timeline {
  rows: readonly Row[]
  /** The largest number of rows since the reader chose what to show: while a run is open, the page keeps space for them. */
  rowsMin: number
  axis: Axis
  span: Span
  setSpan(span: Span): void
  selected: Row | undefined
  select(key: string | undefined): void
  toggle(key: string): void
  critical: ReadonlySet<string> | undefined
  filter: string
  setFilter(text: string): void
}

/** Returns rows, axis and zoom of the drawn timeline. */
export function useTimeline(drawn: Drawn, view: RunView): Timeline {
  const { originMs } = view
  const [get, set] = useQuery('run')
  const [filter, setFilter] = useUrlText('name')
  const skipsIdle = get('idle') === 'skip'
  const showsCritical = get('critical') === '1'
  const { bars, endMs } = drawn
  const openText = get('open') ?? ''
  const chosen = get('step')
  const [hasChosen, setHasChosen] = useState(chosen !== undefined)
  const culprit = useMemo(
    () => (hasChosen || drawn.moment ? undefined : culpritOf(view, bars)),
    [view, bars, hasChosen, drawn.moment],
  )
  const open = useMemo(() => {
    const keys = openText.split(',').filter(Boolean).map(decodeKey)
    return new Set(culprit ? [...keys, `fold:${stemOf(culprit)}`] : keys)
  }, [openText, culprit])
  const [childIds, setChildIds] = useState<readonly string[]>([])
  const children = useChildren(childIds, { originMs, isLive: view.isLive })
  const hideDone = get('hide') === 'done'
  const onlyFailed = get('only') === 'failed'
  const order = ROW_ORDERS.find(one => one === get('order'))
  const rows = useMemo(
    () => rowsOf(bars, { open, hideDone, onlyFailed, filter, children, ...(order && { order }) }),
    [bars, open, hideDone, onlyFailed, filter, children, order],
  )
  const choice = [openText, hideDone, onlyFailed, filter, get('seq'), view.hasAllSteps].join()
  const rowsMin = useMost(rows.length, choice)
  useEffect(() => {
    const wanted = rows.flatMap(row => (row.kind === 'bar' && row.isOpen ? [row.bar.childRunId as string] : []))
    const ids = [...new Set(wanted)].slice(0, CHILDREN_MAX)
    setChildIds(before => (before.join() === ids.join() ? before : ids))
  }, [rows])
  const axis = useMemo(() => (skipsIdle ? axisWithoutIdle(bars, endMs) : plainAxis(endMs)), [skipsIdle, bars, endMs])
  const [span, setSpan] = useZoom(axis)
  const critical = useMemo(
    () => (showsCritical ? new Set(criticalPath(bars, endMs)) : undefined),
    [showsCritical, bars, endMs],
  )
  const wanted = chosen ?? culprit?.id
  const selected = useMemo(() => rows.find(row => nameOf(row) === wanted || row.key === wanted), [rows, wanted])
  const select = useCallback(
    (key: string | undefined) => {
      const row = rows.find(row => row.key === key)
      setHasChosen(true)
      set({ step: row && nameOf(row) })
    },
    [rows, set],
  )
  const toggle = useCallback(
    (key: string) => {
      const next = new Set(open)
      if (!next.delete(key)) next.add(key)
      setHasChosen(true)
      set({ open: [...next].map(encodeKey).join(','), ...(culprit && { step: culprit.label }) })
    },
    [open, set, culprit],
  )
  return {
    ...{ rows, rowsMin, axis, span, setSpan, selected, select, toggle, critical },
    ...{ filter, setFilter },
  }
}

/** Returns the step that made a failed run fail: its page opens there. */
function culpritOf({ run, hasAllSteps }: RunView, bars: readonly Bar[]): Bar | undefined {
  const name = run.error?.stepName
  if (run.status !== 'failed' || name === undefined || !hasAllSteps) return undefined
  return bars.findLast(bar => bar.status === 'failed' && (bar.label === name || bar.name === name))
}

/** Returns the largest count since the choice changed. */
function useMost(count: number, choice: string): number {
  const most = useRef({ count, choice })
  if (most.current.choice !== choice) most.current = { count, choice }
  most.current.count = Math.max(most.current.count, count)
  return most.current.count
}

/** Returns the name of a row in the URL: a step's name, otherwise the row's key. */
const nameOf = (row: Row) => (row.kind === 'bar' && row.key === row.bar.id ? row.bar.label : row.key)

/** Keys are joined by commas, so commas in them are escaped; the URL escapes the rest. */
const encodeKey = (key: string) => key.replaceAll('%', '%25').replaceAll(',', '%2C')
const decodeKey = (text: string) => text.replaceAll('%2C', ',').replaceAll('%25', '%')

/** Returns the visible part of the axis. The URL has it in milliseconds of the run, and follows after a pause. */
function useZoom(axis: Axis): [Span, (span: Span) => void] {
  const [get, set] = useQuery('run')
  const [span, setSpan] = useState(() => readSpan(get('t'), axis))
  const isAll = span === undefined
  const shown = isAll ? axis.all : clampSpan(span, axis.all)
  useEffect(() => {
    const text = span && `${Math.round(axis.timeOf(span.fromMs))}-${Math.round(axis.timeOf(span.toMs))}`
    if (text === get('t')) return
    const timer = setTimeout(() => set({ t: text }), URL_MS)
    return () => clearTimeout(timer)
  }, [span, axis, get, set])
  const change = useCallback(
    (next: Span) => {
      const clamped = clampSpan(next, axis.all)
      const coversAll = clamped.fromMs <= axis.all.fromMs && clamped.toMs >= axis.all.toMs
      setSpan(coversAll ? undefined : clamped)
    },
    [axis],
  )
  return [shown, change]
}

function readSpan(text: string | undefined, axis: Axis): Span | undefined {
  const [, from, to] = /^(\d{1,15})-(\d{1,15})$/.exec(text ?? '') ?? []
  if (from === undefined || to === undefined || Number(from) >= Number(to)) return undefined
  return { fromMs: axis.place(Number(from)), toMs: axis.place(Number(to)) }
}

const NO_FRAMES: FrameIndex = { statuses: [], byStep: new Map() }

/**
 * Returns the bars of child runs, on the axis of the run. Frames of the children are not followed: their steps are read again
 * while one may change.
 */
function useChildren(ids: readonly string[], { originMs, isLive }: { originMs: number; isLive: boolean }) {
  const queries = useQueryClient()
  const children = useQueries({
    queries: ids.map(stepsQuery),
    combine: useCallback(
      (results: readonly { data?: StepList | undefined }[]): ReadonlyMap<string, readonly Bar[]> =>
        new Map(
          results.flatMap(({ data }, i) =>
            data === undefined ? [] : [[ids[i] as string, barsOf(data.steps, NO_FRAMES, originMs)] as const],
          ),
        ),
      [ids, originMs],
    ),
  })
  const mayChange = isLive || [...children.values()].some(bars => bars.some(({ toMs }) => toMs === undefined))
  useRenewal(
    () => {
      const steps = ids.map(id => queries.invalidateQueries({ queryKey: stepsQuery(id).queryKey, exact: true }))
      return Promise.all([...steps, renew('getRunStep')])
    },
    { afterMs: CHILDREN_RENEWAL_MS, enabled: ids.length > 0 && mayChange },
  )
  return children
}
