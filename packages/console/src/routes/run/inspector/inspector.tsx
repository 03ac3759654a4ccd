// The inspector of the selected step, or of a fold of steps, next to the timeline.

import { cutText } from '@perdure/protocol/portable'
import { Button } from '../../../ui/button.tsx'
import { durationText } from '../../../ui/duration.ts'
import { Status } from '../../../ui/status.tsx'
import { Visible } from '../../../ui/visible.tsx'
import type { Row } from '../../../waterfall/folds.ts'
import type { RunView } from '../model/use-run.ts'
import css from './inspector.module.css'
import { StepDetail } from './step-detail.tsx'
import { Term } from './term.tsx'

export interface InspectorProps {
  row: Row
  view: RunView
  onClose(): void
  onZoom(): void
  onRetry(stepName: string): void
}

export function Inspector({ row, view, onClose, onZoom, onRetry }: InspectorProps) {
  const title = row.kind === 'bar' ? row.bar.label : row.fold.label
  return (
    <aside className={css.inspector} aria-label="Selected step">
      <header className={css.head}>
        <h2>
          <Visible text={cutText(title, 300)} />
        </h2>
        <Button kind="bare" aria-label="Zoom to step" title="Zoom to step (z)" onClick={onZoom}>
          ⤢
        </Button>
        <Button kind="bare" aria-label="Close the inspector" title="Close (Esc)" onClick={onClose}>
          ✕
        </Button>
      </header>
      {row.kind === 'bar' ? <StepDetail row={row} view={view} onRetry={onRetry} /> : <FoldDetail row={row} />}
    </aside>
  )
}

function FoldDetail({ row }: { row: Extract<Row, { kind: 'fold' }> }) {
  const { bars, failed, open, p50Ms, p95Ms, fromMs, toMs } = row.fold
  return (
    <dl className={css.facts}>
      <Term name="Steps">{bars.length}</Term>
      <Term name="Failed">{failed > 0 ? <Status status="failed" word={String(failed)} /> : 'none'}</Term>
      {open > 0 && <Term name="Not finished">{open}</Term>}
      <Term name="First start">{durationText(fromMs)}</Term>
      {toMs !== undefined && <Term name="Last end">{durationText(toMs)}</Term>}
      {p50Ms !== undefined && (
        <>
          <Term name="Median">{durationText(p50Ms)}</Term>
          <Term name="p95">{durationText(p95Ms ?? p50Ms)}</Term>
        </>
      )}
    </dl>
  )
}
