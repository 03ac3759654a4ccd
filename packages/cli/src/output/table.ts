// Prints tables with aligned columns. On a terminal, lines are cut to its width: the widest columns shrink first.

import { type Colour, colourOf, type Paint } from './colour.ts'
import { cut, plain, widthOf } from './text.ts'

export interface Cell {
  text: string
  colour?: Colour | undefined
}

export interface Column<Row> {
  title: string
  /** The cell of a row; undefined when the column does not apply to it. */
  cell(row: Row): Cell | string | undefined
  /** Shortened only when no other column can be, as for ids, which people copy. */
  whole?: true
}

/** The cell of a record's status, in the colour of the status. */
export const statusCell = ({ status }: { status: string }): Cell => ({
  text: status,
  colour: colourOf(status),
})

interface TableStyle {
  /** Width of the terminal in columns; undefined leaves every cell at full width. */
  width: number | undefined
  paint: Paint
}

const GAP = 2
const WIDTH_MIN = 6

/** The lines of the table, its header first. */
export function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { width, paint }: TableStyle,
): string[] {
  const header: Cell[] = columns.map(({ title }) => ({ text: title, colour: 'bold' }))
  const body = rows.map(row => columns.map(column => asCell(column.cell(row))))
  const widths = columns.map((_, i) => Math.max(...[header, ...body].map(cells => widthOf(cells[i]?.text ?? ''))))
  if (width !== undefined) shrink(widths, columns, width)
  return [header, ...body].map(cells => line(cells, widths, { width, paint }))
}

function asCell(value: Cell | string | undefined): Cell {
  if (value === undefined) return { text: '-', colour: 'dim' }
  const cell = typeof value === 'string' ? { text: value } : value
  return { ...cell, text: plain(cell.text) }
}

/** Shortens the widest columns until the line fits, first those that may be cut, then the others. */
function shrink(widths: number[], columns: readonly Column<never>[], width: number): void {
  const over = () => widths.reduce((sum, w) => sum + w, GAP * (widths.length - 1)) - width
  for (const whole of [false, true]) {
    while (over() > 0) {
      const candidates = widths.flatMap((w, i) =>
        (columns[i]?.whole === true) === whole && w > WIDTH_MIN ? [{ w, i }] : [],
      )
      if (candidates.length === 0) break
      const widest = candidates.reduce((a, b) => (b.w > a.w ? b : a))
      widths[widest.i] = widest.w - 1
    }
  }
}

function line(cells: readonly Cell[], widths: readonly number[], { width, paint }: TableStyle): string {
  let left = width ?? Number.POSITIVE_INFINITY
  let out = ''
  for (const [i, { text, colour }] of cells.entries()) {
    const last = i === cells.length - 1
    const room = Math.min(left, widths[i] as number)
    const shown = cut(text, room)
    const padding = last ? 0 : Math.min(left, (widths[i] as number) + GAP) - widthOf(shown)
    out += paint(colour, shown) + ' '.repeat(Math.max(0, padding))
    left -= (widths[i] as number) + GAP
    if (left <= 0) break
  }
  return out.trimEnd()
}
