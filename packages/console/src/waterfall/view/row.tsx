// biome-ignore-all lint/a11y/useSemanticElements: only the rows on the screen are in the document, so this is no table.
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names its active row.
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the page handles the keys of the selected row.
// biome-ignore-all lint/a11y/noStaticElementInteractions: the keys → and ← fold the selected row.

// One row of the waterfall: its name, its bar and its duration.

import { cutText } from '@perdure/protocol/portable'
import { memo } from 'react'
import { durationText } from '../../ui/duration.ts'
import { glyphOf } from '../../ui/status.tsx'
import { Visible } from '../../ui/visible.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { canOpen, type Row } from '../folds.ts'
import { barName, foldName, opOf } from '../row-name.ts'
import css from './row.module.css'
import { BarSegments, FoldStrip, type Track } from './segments.tsx'

export const ROW_PX = 26

export interface RowProps {
  row: Row
  /** Index among all rows, from 0. */
  place: number
  id: string
  track: Track
  isSelected: boolean
  /** Whether the step is on the critical path; undefined if the path is not shown, and for steps of children. */
  isCritical: boolean | undefined
  onSelect(key: string): void
  onToggle(key: string): void
  onZoom(key: string): void
}

export const RowView = memo(function RowView(props: RowProps) {
  const { row, place, id, track, isSelected, isCritical, onSelect, onToggle, onZoom } = props
  const name = row.kind === 'bar' ? barName(row.bar) : foldName(row.fold)
  return (
    <div
      role="row"
      id={id}
      aria-rowindex={place + 2}
      aria-selected={isSelected}
      aria-expanded={canOpen(row) ? row.isOpen : undefined}
      aria-label={shortName(name, 300)}
      aria-level={row.depth + 1}
      className={css.row}
      data-faint={isCritical === false || undefined}
      style={{ transform: `translateY(${place * ROW_PX}px)` }}
      onClick={() => onSelect(row.key)}
      onDoubleClick={() => onZoom(row.key)}
    >
      <span
        role="gridcell"
        className={css.name}
        style={{ paddingInlineStart: `calc(6px + ${row.depth} * var(--indent))` }}
      >
        <Toggle row={row} onToggle={onToggle} />
        {row.kind === 'bar' ? <BarLabel row={row} /> : <FoldLabel row={row} />}
      </span>
      <span role="gridcell" className={css.track}>
        {row.kind === 'bar' ? <BarSegments bar={row.bar} track={track} /> : <FoldStrip fold={row.fold} track={track} />}
      </span>
      <span role="gridcell" className={css.took} title={row.kind === 'fold' ? 'median, p95' : undefined}>
        {tookText(row, track.endMs)}
      </span>
    </div>
  )
})

function Toggle({ row, onToggle }: { row: Row; onToggle: (key: string) => void }) {
  if (!canOpen(row)) return <span className={css.fold} />
  return (
    <span
      aria-hidden="true"
      className={css.fold}
      onClick={event => {
        event.stopPropagation()
        onToggle(row.key)
      }}
    >
      {row.isOpen ? '▾' : '▸'}
    </span>
  )
}

function BarLabel({ row }: { row: Extract<Row, { kind: 'bar' }> }) {
  const { bar } = row
  return (
    <>
      <span aria-hidden="true" className={css.op} data-status={bar.status}>
        {bar.status === 'succeeded' ? opOf(bar.op).glyph : glyphOf(bar.status)}
      </span>
      <span className="one-line" title={cutText(bar.label, 200)}>
        <Visible text={cutText(bar.label, 200)} />
      </span>
      {bar.attempt > 1 && <span className={css.count}>×{bar.attempt}</span>}
      {bar.carried && <span className={css.count}>carried</span>}
      {bar.rollback && (
        <span className={css.count} title="Has a rollback">
          ↩
        </span>
      )}
    </>
  )
}

function FoldLabel({ row }: { row: Extract<Row, { kind: 'fold' }> }) {
  const { fold } = row
  return (
    <>
      <span className="one-line" title={cutText(fold.label, 200)}>
        <Visible text={cutText(fold.label, 200)} />
      </span>
      <span className={css.count}>{fold.bars.length}</span>
      {fold.failed > 0 && <span className={css.failed}>✕ {fold.failed}</span>}
      {fold.open > 0 && <span className={css.open}>▶ {fold.open}</span>}
    </>
  )
}

function tookText(row: Row, endMs: number): string {
  if (row.kind === 'fold')
    return row.fold.p50Ms === undefined ? '' : `${durationText(row.fold.p50Ms)} · ${durationText(row.fold.p95Ms ?? 0)}`
  const { bar } = row
  if (bar.carried || bar.op === 'Emit' || bar.op === 'Webhook') return ''
  return durationText(Math.max((bar.toMs ?? endMs) - bar.fromMs, 0))
}
