// Copies a whole store into an empty one, of either dialect, while no engine has them open. Copies every row of every table,
// compares both sides row by row, and checks the rules of the store on both. Called by compose/maintenance.ts.

import { createHash } from 'node:crypto'
import type { Row } from '../description/values.ts'
import type { Violation } from '../verify/check.ts'
import { verify } from '../verify/verify.ts'
import { COPIED_TABLES, type CopiedTable } from './copied-tables.ts'
import { keyOf, type PageBounds, pagesOf } from './pages.ts'
import { beginMove, endMove, noteProgress, progressOf } from './progress.ts'
import type { MoveSide } from './side.ts'

/**
 * One thing that a move has done: a page copied, a table found equal on both sides, or a broken rule that the source already had.
 */
export type MoveProgress =
  | { step: 'copied' | 'compared'; table: string; rows: number }
  | { step: 'violation'; violation: Violation }

export interface MoveOptions extends PageBounds {
  /** Discards what an unfinished move has left in the target. */
  restart?: boolean
}

/**
 * Moves the store; the source stays as it is. A move that was interrupted continues when it is called again. Throws if the target
 * is not empty, or if the sides differ at the end; no engine opens such a target.
 */
export async function* move(
  source: MoveSide,
  target: MoveSide,
  { restart = false, rowsMax }: MoveOptions = {},
): AsyncGenerator<MoveProgress> {
  await beginMove(target, source, { restart })
  for (const table of COPIED_TABLES) yield* copyTable(source, target, table, { rowsMax })
  for (const table of COPIED_TABLES) {
    const [from, to] = [await digestOf(source, table), await digestOf(target, table)]
    if (from.digest !== to.digest) throw differs(table.name, from.rows, to.rows)
    yield { step: 'compared', table: table.name, rows: to.rows }
  }
  yield* compareRules(source, target)
  await endMove(target)
}

async function* copyTable(
  source: MoveSide,
  target: MoveSide,
  table: CopiedTable,
  bounds: PageBounds,
): AsyncGenerator<MoveProgress> {
  const { name, position, hasOneRow } = table
  let { rows, last } = await progressOf(target, name)
  for await (const page of pagesOf(source, table, last, bounds)) {
    rows += page.length
    last = keyOf(table, page.at(-1) as Row)
    const progress = { rows, last }
    await target.commit(async () => {
      if (hasOneRow) await target.run(`DELETE FROM ${name}`)
      await target.insert(table, page)
      await noteProgress(target, name, progress)
    })
    yield { step: 'copied', table: name, rows }
  }
  // Rows that retention has removed had positions too. Later rows must come after every position that other rows refer to.
  if (position !== undefined) {
    const highest = await source.lastPosition(table)
    await target.commit(() => target.setLastPosition(table, highest))
  }
}

/** Returns the same digest for tables with equal rows, whatever the dialect. */
async function digestOf(side: MoveSide, table: CopiedTable): Promise<{ rows: number; digest: string }> {
  const hash = createHash('sha256')
  let rows = 0
  for await (const page of pagesOf(side, table)) {
    rows += page.length
    for (const row of page) hash.update(`${JSON.stringify(row)}\n`)
  }
  if (table.position !== undefined) hash.update(String(await side.lastPosition(table)))
  return { rows, digest: hash.digest('hex') }
}

function differs(table: string, from: number, to: number): Error {
  const counts = from === to ? `${from} rows each` : `${from} rows in the source, ${to} in the target`
  return new Error(
    `${table} differs (${counts}): has an engine changed the source since the move began? --restart starts over`,
  )
}

/** Throws if the target breaks a rule that the source keeps. */
async function* compareRules(source: MoveSide, target: MoveSide): AsyncGenerator<MoveProgress> {
  const known = new Set<string>()
  for await (const violation of verify(source)) {
    known.add(JSON.stringify(violation))
    yield { step: 'violation', violation }
  }
  for await (const violation of verify(target)) {
    if (known.has(JSON.stringify(violation))) continue
    const { check, subject, message } = violation
    throw new Error(`the target violates a rule that the source satisfies: ${check} ${subject} ${message}`)
  }
}
