// Moments that are marked on a chart over time: a dashed line with a button on top that shows what happened then.

import { clockText } from '../time.ts'
import css from './chart.module.css'
import { markPlace } from './scale.ts'

/** A moment to mark. */
export interface ChartMark {
  at: string
  /** The event of that moment: "the definition changed". */
  text: string
}

export interface PlacedMark extends ChartMark {
  /** Its position in the chart, from 0 to 1. */
  x: number
  /** The text with the time. */
  title: string
}

/** Returns the marks within the times of the points. */
export function placedMarks(
  marks: readonly ChartMark[],
  points: readonly { at: string }[],
  nowMs: number,
): PlacedMark[] {
  const spanMs = spanOf(points)
  return marks.flatMap(mark => {
    const x = markPlace(Date.parse(mark.at), { points, spanMs })
    return x === undefined ? [] : [{ ...mark, x, title: `${mark.text}, ${clockText(Date.parse(mark.at), nowMs)}` }]
  })
}

/** Returns the length of each point's span. */
export function spanOf(points: readonly { at: string }[]): number {
  return points.length > 1 ? Date.parse(points[1]?.at as string) - Date.parse(points[0]?.at as string) : 0
}

/** Returns the texts of the marks in the span of each point, by the time of the point. */
export function marksBySpan(marks: readonly PlacedMark[], points: readonly { at: string }[]): Map<string, string> {
  const texts = new Map<string, string>()
  for (const { x, title } of marks) {
    const { at } = points[Math.min(points.length - 1, Math.floor(x * points.length))] as { at: string }
    texts.set(at, [texts.get(at), title].filter(Boolean).join('; '))
  }
  return texts
}

export function Marks({ marks, onOpen }: { marks: readonly PlacedMark[]; onOpen?(mark: ChartMark): void }) {
  return (
    <div className={css.marks}>
      {marks.map(mark => (
        <span key={mark.at} style={{ left: `${100 * mark.x}%` }}>
          {onOpen ? (
            <button type="button" title={mark.title} aria-label={mark.title} onClick={() => onOpen(mark)} />
          ) : (
            <i title={mark.title} aria-hidden="true" />
          )}
        </span>
      ))}
    </div>
  )
}
