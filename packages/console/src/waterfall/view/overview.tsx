// The whole run in a strip, as a canvas, with a brush over the part that the waterfall shows. The strip has the columns of the
// rows below it, so that, when everything is shown, each bar is above its row's bar. Dragging selects a part, dragging the brush
// moves it. The keys of the page do the same without a pointer.

import { type PointerEvent, useEffect, useRef } from 'react'
import { durationText } from '../../ui/duration.ts'
import { colourOf } from '../../ui/status.tsx'
import type { Axis } from '../idle.ts'
import type { Bar } from '../model.ts'
import { clampSpan, fractionOf, type Span } from '../scale.ts'
import css from './overview.module.css'
import { useTheme } from './use-theme.ts'
import { useWidth } from './use-width.ts'

const HEIGHT_PX = 44

export interface OverviewProps {
  bars: readonly Bar[]
  axis: Axis
  span: Span
  endMs: number
  onSpan(span: Span): void
}

export function Overview({ bars, axis, span, endMs, onSpan }: OverviewProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const theme = useTheme()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme has other colours.
  useEffect(() => {
    if (canvas.current && width > 0) draw(canvas.current, { bars, axis, endMs, width })
  }, [bars, axis, endMs, width, theme])
  const drag = useBrush(box, { axis, span, onSpan })
  const left = Math.max(fractionOf(span.fromMs, axis.all), 0)
  const right = Math.min(fractionOf(span.toMs, axis.all), 1)
  const isAll = left <= 0 && right >= 1
  return (
    <div className={css.overview} aria-hidden="true">
      <span className={css.name}>Whole run</span>
      <div ref={box} className={css.track} data-strip {...drag}>
        <canvas ref={canvas} className={css.canvas} height={HEIGHT_PX} />
        {!isAll && <div className={css.shade} style={{ left: 0, width: `${left * 100}%` }} />}
        {!isAll && <div className={css.shade} style={{ left: `${right * 100}%`, right: 0 }} />}
        {!isAll && <div className={css.brush} style={{ left: `${left * 100}%`, width: `${(right - left) * 100}%` }} />}
      </div>
      <span className={css.took}>{durationText(axis.timeOf(axis.all.toMs))}</span>
    </div>
  )
}

interface Drawing {
  bars: readonly Bar[]
  axis: Axis
  endMs: number
  width: number
}

/** Draws every bar as a line in its row; if there are more bars than lines, later ones cover earlier ones. */
function draw(canvas: HTMLCanvasElement, { bars, axis, endMs, width }: Drawing): void {
  const scale = window.devicePixelRatio || 1
  canvas.width = Math.round(width * scale)
  canvas.height = Math.round(HEIGHT_PX * scale)
  const context = canvas.getContext('2d')
  if (!context) return
  context.scale(scale, scale)
  const style = getComputedStyle(canvas)
  const colours = new Map<string, string>()
  const colour = (name: string) => {
    const known = colours.get(name)
    if (known !== undefined) return known
    // The computed value of a colour property is resolved for the theme; a custom property would not be.
    canvas.style.color = `var(--${name})`
    const value = style.color
    colours.set(name, value)
    return value
  }
  const room = HEIGHT_PX - 8
  const line = Math.max(1, Math.min(5, room / Math.max(bars.length, 1) - 1))
  // Failures are drawn last, so that nothing covers them.
  const order = [...bars.keys()].sort((a, b) => Number(isBad(bars[a] as Bar)) - Number(isBad(bars[b] as Bar)))
  for (const i of order) {
    const bar = bars[i] as Bar
    context.fillStyle = colour(colourOf(bar.op === 'StepRun' || isBad(bar) ? bar.status : 'waiting'))
    const x = fractionOf(axis.place(bar.fromMs), axis.all) * width
    const end = fractionOf(axis.place(bar.toMs ?? endMs), axis.all) * width
    const y = 4 + (i / Math.max(bars.length, 1)) * room
    context.fillRect(x, y, Math.max(end - x, 1.5), isBad(bar) ? Math.max(line, 2) : line)
  }
}

const isBad = ({ status }: Bar) => status === 'failed' || status === 'retrying'

interface Brush {
  axis: Axis
  span: Span
  onSpan(span: Span): void
}

/** Returns the handlers of a drag: from a point outside the brush it selects, from inside it moves. */
function useBrush(box: React.RefObject<HTMLDivElement | null>, { axis, span, onSpan }: Brush) {
  const start = useRef<{ at: number; moves: Span | undefined } | undefined>(undefined)
  const timeAt = ({ clientX }: PointerEvent) => {
    const rect = (box.current as HTMLDivElement).getBoundingClientRect()
    return axis.all.fromMs + ((clientX - rect.left) / rect.width) * (axis.all.toMs - axis.all.fromMs)
  }
  return {
    onPointerDown(event: PointerEvent) {
      if (event.button !== 0) return
      const at = timeAt(event)
      const isAll = span.fromMs <= axis.all.fromMs && span.toMs >= axis.all.toMs
      start.current = { at, moves: !isAll && at >= span.fromMs && at <= span.toMs ? span : undefined }
      box.current?.setPointerCapture(event.pointerId)
    },
    onPointerMove(event: PointerEvent) {
      if (!start.current) return
      const { at, moves } = start.current
      const now = timeAt(event)
      if (moves) onSpan(clampSpan({ fromMs: moves.fromMs + now - at, toMs: moves.toMs + now - at }, axis.all))
      else if (Math.abs(fractionOf(now, axis.all) - fractionOf(at, axis.all)) > 0.005)
        onSpan(clampSpan({ fromMs: Math.min(at, now), toMs: Math.max(at, now) }, axis.all))
    },
    onPointerUp() {
      start.current = undefined
    },
    onDoubleClick() {
      onSpan(axis.all)
    },
  }
}
