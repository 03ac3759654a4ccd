// Turns bars into the rows of the waterfall: filters them, sorts them, and folds names that repeat into one row.

import { type Bar, isSettledStep } from './model.ts'

/** Names that differ only in numbers are folded if there are at least this many. */
export const FOLD_COUNT_MIN = 6
/** Number of parts in the strip that shows when the members of a fold started. */
export const DENSITY_PARTS = 48

/** Many bars in one row. */
export interface Fold {
  stem: string
  label: string
  bars: readonly Bar[]
  failed: number
  open: number
  fromMs: number
  /** Absent while a member is open. */
  toMs?: number
  p50Ms?: number
  p95Ms?: number
  /** Number of members that started in each part of the fold's span, and of failed ones among them. */
  density: readonly { count: number; failed: number }[]
}

export type Row = { key: string; depth: number } & (
  | {
      kind: 'bar'
      bar: Bar
      isOpen: boolean
      /** The child run that the step belongs to; absent for a step of the run itself. */
      runId?: string
    }
  | { kind: 'fold'; fold: Fold; isOpen: boolean }
)

export const ROW_ORDERS = ['index', 'start', 'duration'] as const
export type RowOrder = (typeof ROW_ORDERS)[number]

export interface RowOptions {
  /** Keys of folds and of child steps that are unfolded. */
  open: ReadonlySet<string>
  hideDone?: boolean
  onlyFailed?: boolean
  /** Shows only names that contain this text, ignoring case. */
  filter?: string
  order?: RowOrder
  /** Bars of the children by run id, on the same axis. */
  children?: ReadonlyMap<string, readonly Bar[]>
}

/** Maximum depth to which children are unfolded. */
const CHILD_DEPTH_MAX = 8

/** Whether a row can have rows below it: a fold, or a step that started a child. */
export function canOpen(row: Row): boolean {
  return row.kind === 'fold' || (row.bar.childRunId !== undefined && row.depth < CHILD_DEPTH_MAX)
}

/** Returns the rows in the order in which they are drawn. */
export function rowsOf(bars: readonly Bar[], options: RowOptions): Row[] {
  const rows: Row[] = []
  addRows(rows, bars, { options, prefix: '', depth: 0 })
  return rows
}

interface Level {
  options: RowOptions
  prefix: string
  depth: number
  /** The child run that the bars belong to. */
  runId?: string
}

function addRows(rows: Row[], bars: readonly Bar[], level: Level): void {
  const { options, prefix, depth } = level
  const shown = bars.filter(bar => isShown(bar, options))
  for (const entry of sorted(foldedEntries(shown), options.order ?? 'index')) {
    const key = `${prefix}${entry.kind === 'fold' ? `fold:${entry.fold.stem}` : entry.bar.id}`
    const isOpen = options.open.has(key)
    if (entry.kind === 'bar') {
      addBar(rows, entry.bar, { ...level, key })
      continue
    }
    rows.push({ kind: 'fold', key, depth, fold: entry.fold, isOpen })
    if (!isOpen) continue
    for (const bar of entry.fold.bars) addBar(rows, bar, { ...level, key: `${prefix}${bar.id}`, depth: depth + 1 })
  }
}

function addBar(rows: Row[], bar: Bar, { key, ...level }: Level & { key: string }): void {
  const { options, depth, runId } = level
  const row: Row = { kind: 'bar', key, depth, bar, isOpen: false, ...(runId === undefined ? {} : { runId }) }
  const isOpen = canOpen(row) && options.open.has(key)
  rows.push({ ...row, isOpen })
  const childRunId = bar.childRunId as string
  const children = isOpen ? options.children?.get(childRunId) : undefined
  if (children) addRows(rows, children, { options, prefix: `${key}/`, depth: depth + 1, runId: childRunId })
}

function isShown(bar: Bar, { hideDone, onlyFailed, filter }: RowOptions): boolean {
  if (onlyFailed && bar.status !== 'failed' && bar.status !== 'retrying') return false
  if (hideDone && isSettledStep(bar.status) && bar.status !== 'failed') return false
  return filter === undefined || filter === '' || bar.label.toLowerCase().includes(filter.toLowerCase())
}

type Entry = { kind: 'bar'; bar: Bar } | { kind: 'fold'; fold: Fold }

function foldedEntries(bars: readonly Bar[]): Entry[] {
  const groups = new Map<string, Bar[]>()
  for (const bar of bars) {
    const stem = stemOf(bar)
    const group = groups.get(stem)
    if (group) group.push(bar)
    else groups.set(stem, [bar])
  }
  return [...groups].flatMap(([stem, group]): Entry[] =>
    group.length < FOLD_COUNT_MIN
      ? group.map(bar => ({ kind: 'bar', bar }))
      : [{ kind: 'fold', fold: foldOf(stem, group) }],
  )
}

/** Returns the name with its numbers masked, and the op: bars with the same stem are folded together. */
export function stemOf({ name, op }: Pick<Bar, 'name' | 'op'>): string {
  return `${op} ${name.replace(/\d+/g, '#')}`
}

function foldOf(stem: string, bars: readonly Bar[]): Fold {
  const durations = bars
    .flatMap(bar => (bar.toMs === undefined || bar.status === 'cancelled' ? [] : [bar.toMs - bar.fromMs]))
    .sort((a, b) => a - b)
  const fromMs = bars.reduce((least, bar) => Math.min(least, bar.fromMs), Number.POSITIVE_INFINITY)
  const lastMs = bars.reduce((most, bar) => Math.max(most, bar.toMs ?? bar.fromMs), fromMs)
  const open = bars.filter(({ status }) => !isSettledStep(status)).length
  return {
    stem,
    label: foldLabel(bars),
    bars,
    failed: bars.filter(({ status }) => status === 'failed').length,
    open,
    fromMs,
    ...(open > 0 ? {} : { toMs: lastMs }),
    ...(durations.length === 0 ? {} : { p50Ms: percentile(durations, 0.5), p95Ms: percentile(durations, 0.95) }),
    density: densityOf(bars, fromMs, lastMs),
  }
}

/** Returns `name` for a name that repeats; otherwise with its first and last number: `import-row:0…9999`. */
function foldLabel(bars: readonly Bar[]): string {
  const [first, last] = [bars[0] as Bar, bars[bars.length - 1] as Bar]
  if (first.name === last.name) return first.name
  const [, head = '', from = '', tail = ''] = /^(\D*)(\d+)(\D*)$/.exec(first.name) ?? []
  const to = /\d+/.exec(last.name)?.[0]
  return from === '' || to === undefined ? first.name.replace(/\d+/g, '…') : `${head}${from}…${to}${tail}`
}

/** Returns the value below which this part of the sorted values is. */
export function percentile(sortedValues: readonly number[], part: number): number {
  const at = Math.min(sortedValues.length - 1, Math.ceil(sortedValues.length * part) - 1)
  return sortedValues[Math.max(at, 0)] ?? 0
}

function densityOf(bars: readonly Bar[], fromMs: number, toMs: number): Fold['density'] {
  const parts = Array.from({ length: DENSITY_PARTS }, () => ({ count: 0, failed: 0 }))
  const width = Math.max(toMs - fromMs, 1)
  for (const bar of bars) {
    const at = Math.min(DENSITY_PARTS - 1, Math.floor(((bar.fromMs - fromMs) / width) * DENSITY_PARTS))
    const part = parts[Math.max(at, 0)] as { count: number; failed: number }
    part.count++
    if (bar.status === 'failed') part.failed++
  }
  return parts
}

function sorted(entries: readonly Entry[], order: RowOrder): Entry[] {
  const of = (entry: Entry) => (entry.kind === 'bar' ? entry.bar : entry.fold)
  const length = (entry: Entry) => (of(entry).toMs ?? Number.POSITIVE_INFINITY) - of(entry).fromMs
  const rank = {
    index: (entry: Entry) => (entry.kind === 'bar' ? entry.bar.index : (entry.fold.bars[0] as Bar).index),
    start: (entry: Entry) => of(entry).fromMs,
    duration: (entry: Entry) => -length(entry),
  }[order]
  return [...entries].sort((a, b) => compare(rank(a), rank(b)))
}

/** Compares ranks. Infinite ranks are equal to each other: their difference is not a number. */
const compare = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1)
