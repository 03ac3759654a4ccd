// Prints tables with aligned columns. On a terminal, a table that is too wide leaves out columns that matter less, then cuts
// the widest columns.

import { elapsedText } from '@perdure/protocol'
import { type Colour, colourOf, type Paint } from './colour.ts'
import { cut, plain, widthOf } from './text.ts'
import { relative } from './time.ts'

export interface Cell {
  text: string
  colour?: Colour | undefined
}

/** The fields of a row that a table can show unchanged. */
type Field<Row> = { [Name in keyof Row]-?: Row[Name] extends string | number | undefined ? Name : never }[keyof Row] &
  string

interface ColumnStyle {
  /** Shortened only if no other column can be; for ids, for example, which people copy. */
  whole?: true
  /**
   * May be left out if the table is too wide: first columns without any value, then the ones with the lowest number. Columns
   * without this stay.
   */
  leave?: number
}

interface WrittenColumn<Row> extends ColumnStyle {
  title: string
  /** The cell of a row; undefined when the column does not apply to it. */
  cell(row: Row): Cell | string | undefined
}

interface FieldColumn<Row> extends ColumnStyle {
  field: Field<Row>
  /** Default: the name of the field. */
  title?: string
}

/** A field of the rows by its name, or with its own title or style; or the text that a function makes from a row. */
export type Column<Row> = Field<Row> | FieldColumn<Row> | WrittenColumn<Row>

/** Completes the column. Times become distances from now, `...Ms` a duration, failures red; ids and statuses stay whole. */
function written<Row>(column: Column<Row>): WrittenColumn<Row> {
  if (typeof column === 'object' && 'cell' in column) return column
  const { field, title, ...style } = typeof column === 'object' ? column : { field: column }
  const name = /^(.+)(?:At|Ms)$/.exec(field)?.[1] ?? field
  return {
    title: title ?? name.replace(/[A-Z]/g, capital => ` ${capital}`).toUpperCase(),
    cell: row => cellOf(field, row[field as keyof Row] as string | number | undefined),
    ...(/^status$|^id$|Id$/.test(field) && { whole: true }),
    ...style,
  }
}

function cellOf(field: string, value: string | number | undefined): Cell | string | undefined {
  if (value === undefined) return undefined
  if (field === 'status') return statusCell({ status: String(value) })
  if (field === 'failed' && Number(value) > 0) return { text: String(value), colour: 'red' }
  if (typeof value === 'number') return field.endsWith('Ms') ? elapsedText(value) : String(value)
  return field === 'at' || field.endsWith('At') ? relative(value) : value
}

/** The workflow, and whether the run belongs to its failure handler or is a cleanup. */
export function workflowCell({ workflow, kind }: { workflow: string; kind?: string }): string {
  if (kind === undefined) return workflow
  return `${workflow} (${kind === 'onFailure' ? 'on failure' : kind})`
}

/** The cell of a record's status, in the colour of the status. */
const statusCell = ({ status }: { status: string }): Cell => ({
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
/** Below this width, text says little: a table leaves out a column rather than make one narrower. */
const WIDTH_USEFUL = 16

/** The lines of the table, its header first. */
export function table<Row>(
  rows: readonly NoInfer<Row>[],
  columns: readonly Column<Row>[],
  { width, paint }: TableStyle,
): string[] {
  const all = columns.map(column => drawn(written(column), rows))
  const kept = width === undefined ? all : fitting(all, width)
  const widths = kept.map(column => column.width)
  if (width !== undefined) shrink(widths, kept, width)
  return [-1, ...rows.keys()].map(row => {
    const cells = kept.map(({ title, cells }) => (row < 0 ? title : (cells[row] as Cell)))
    return line(cells, widths, { width, paint })
  })
}

/** A column with its cells. */
interface Drawn {
  title: Cell
  cells: Cell[]
  /** Width of the widest cell. */
  width: number
  isEmpty: boolean
  whole: boolean
  leave: number | undefined
}

function drawn<Row>({ title, cell, whole, leave }: WrittenColumn<Row>, rows: readonly Row[]): Drawn {
  const values = rows.map(row => cell(row))
  const cells = values.map(asCell)
  const width = Math.max(widthOf(title), ...cells.map(({ text }) => widthOf(text)))
  const isEmpty = values.every(value => value === undefined || value === '')
  return { title: { text: title, colour: 'bold' }, cells, width, isEmpty, whole: whole === true, leave }
}

/** Returns the columns that can stay, so that each of them has a useful width. */
function fitting(columns: Drawn[], width: number): Drawn[] {
  const useful = (column: Drawn) => (column.whole ? column.width : Math.min(column.width, WIDTH_USEFUL))
  const needed = columns.reduce((sum, column) => sum + useful(column) + GAP, -GAP)
  const [first] = columns
    .filter(({ leave }) => leave !== undefined)
    .sort((a, b) => Number(b.isEmpty) - Number(a.isEmpty) || (a.leave ?? 0) - (b.leave ?? 0))
  if (needed <= width || first === undefined) return columns
  return fitting(
    columns.filter(column => column !== first),
    width,
  )
}

function asCell(value: Cell | string | undefined): Cell {
  if (value === undefined) return { text: '-', colour: 'dim' }
  const cell = typeof value === 'string' ? { text: value } : value
  return { ...cell, text: plain(cell.text) }
}

/** Shortens the widest columns until the line fits, first those that may be cut, then the others. */
function shrink(widths: number[], columns: readonly Drawn[], width: number): void {
  const over = () => widths.reduce((sum, w) => sum + w, GAP * (widths.length - 1)) - width
  for (const whole of [false, true]) {
    while (over() > 0) {
      const candidates = widths.flatMap((w, i) => (columns[i]?.whole === whole && w > WIDTH_MIN ? [{ w, i }] : []))
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
