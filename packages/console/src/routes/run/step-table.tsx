// The timeline as a table: the same rows for people who read tables more easily than bars.

import { cutText } from '@perdure/protocol/portable'
import { useEffect, useRef } from 'react'
import { durationText } from '../../ui/duration.ts'
import { Status } from '../../ui/status.tsx'
import { PlainTable } from '../../ui/table/plain-table.tsx'
import { Sideways } from '../../ui/table/sideways.tsx'
import { Visible } from '../../ui/visible.tsx'
import type { Row } from '../../waterfall/folds.ts'
import { attemptsText, opOf } from '../../waterfall/row-name.ts'
import css from './step-table.module.css'

const HEADS = ['Step', 'Kind', 'Status', 'Attempt', 'Started at', 'Duration'] as const
const NUMBERS: readonly string[] = ['Attempt', 'Started at', 'Duration']
/** Maximum number of rows, or the smallest multiple that includes the selected row; the timeline has all rows. */
const ROWS_STEP = 500

export interface StepTableProps {
  rows: readonly Row[]
  endMs: number
  selected: string | undefined
  onSelect(key: string): void
}

export function StepTable({ rows, endMs, selected, onSelect }: StepTableProps) {
  const body = useRef<HTMLTableSectionElement>(null)
  const place = rows.findIndex(({ key }) => key === selected)
  const rowsMax = Math.max(1, Math.ceil((place + 1) / ROWS_STEP)) * ROWS_STEP
  useEffect(() => {
    if (place >= 0) body.current?.rows[place]?.scrollIntoView({ block: 'nearest' })
  }, [place])
  return (
    <Sideways label="Steps of the run" className={css.scroll}>
      <PlainTable className={css.table} label="Steps of the run" heads={HEADS} numbers={NUMBERS} body={body}>
        {rows.slice(0, rowsMax).map(row => (
          <tr key={row.key} aria-selected={row.key === selected} onClick={() => onSelect(row.key)}>
            {row.kind === 'bar' ? <BarCells row={row} endMs={endMs} /> : <FoldCells row={row} endMs={endMs} />}
          </tr>
        ))}
      </PlainTable>
      {rows.length > rowsMax && (
        <p className={css.more}>{rows.length - rowsMax} more rows: filter by name to see them.</p>
      )}
    </Sideways>
  )
}

function BarCells({ row, endMs }: { row: Extract<Row, { kind: 'bar' }>; endMs: number }) {
  const { bar } = row
  return (
    <>
      <th scope="row">
        <Visible text={`${'\u00a0\u00a0'.repeat(row.depth)}${cutText(bar.label, 200)}`} />
      </th>
      <td>{opOf(bar.op).word}</td>
      <td>
        <Status status={bar.status} />
      </td>
      <td data-align="end">{attemptsText(bar)}</td>
      <td data-align="end">{durationText(bar.fromMs)}</td>
      <td data-align="end">{durationText(Math.max((bar.toMs ?? endMs) - bar.fromMs, 0))}</td>
    </>
  )
}

function FoldCells({ row, endMs }: { row: Extract<Row, { kind: 'fold' }>; endMs: number }) {
  const { fold } = row
  return (
    <>
      <th scope="row">
        <Visible text={cutText(fold.label, 200)} />
      </th>
      <td>{fold.bars.length} steps</td>
      <td>{fold.failed > 0 ? <Status status="failed" word={`${fold.failed} failed`} /> : 'none failed'}</td>
      <td />
      <td data-align="end">{durationText(fold.fromMs)}</td>
      <td data-align="end">{durationText((fold.toMs ?? endMs) - fold.fromMs)}</td>
    </>
  )
}
