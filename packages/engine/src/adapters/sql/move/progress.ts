// The notes of a move in its target, in a table outside the schema: the source, and how much of each table is copied. They are
// written with the rows that they count, so a move continues where it stopped, however it ended.

import type { Value } from '../description/values.ts'
import { MOVE_TABLE } from '../tables/bookkeeping.ts'
import { COPIED_TABLES } from './copied-tables.ts'
import type { MoveSide } from './side.ts'

/** The row that names the source; the others are named as their tables. */
const SOURCE = '@source'

export interface TableProgress {
  /** Number of rows copied. */
  rows: number
  /** The key of the last row copied; absent before the first. */
  last?: Value[]
}

/** Makes the target ready. Throws if it has its own contents, or contents of a move from another source. */
export async function beginMove(target: MoveSide, source: MoveSide, { restart = false } = {}): Promise<void> {
  const sourceName = await clusterOf(source)
  if (await target.has(MOVE_TABLE)) {
    if (restart) return target.commit(() => empty(target, sourceName))
    const [[begun]] = (await target.rows(`SELECT state FROM ${MOVE_TABLE} WHERE name = ?`, [SOURCE])) as [[string]]
    if (begun !== sourceName)
      throw new Error(`a move from another store into ${target.name} is not finished: --restart gives it up`)
    return
  }
  await target.migrate()
  for (const { name, hasOneRow } of COPIED_TABLES) {
    if (hasOneRow || (await target.rows(`SELECT 1 FROM ${name} LIMIT 1`)).length === 0) continue
    throw new Error(`${target.name} is not empty (${name}): a store can only be moved into an empty one`)
  }
  await target.commit(async () => {
    await target.run(`CREATE TABLE ${MOVE_TABLE} (name text PRIMARY KEY, state text NOT NULL)`)
    await write(target, SOURCE, sourceName)
  })
}

/** Returns the progress of a table; undefined if nothing of it was copied. */
export async function progressOf(target: MoveSide, table: string): Promise<TableProgress> {
  const [row] = await target.rows(`SELECT state FROM ${MOVE_TABLE} WHERE name = ?`, [table])
  return row ? (JSON.parse(row[0] as string) as TableProgress) : { rows: 0 }
}

export function noteProgress(target: MoveSide, table: string, progress: TableProgress): Promise<void> {
  return write(target, table, JSON.stringify(progress))
}

/** Ends the move: engines may now open the target. */
export function endMove(target: MoveSide): Promise<void> {
  return target.commit(() => target.run(`DROP TABLE ${MOVE_TABLE}`))
}

async function empty(target: MoveSide, sourceName: string): Promise<void> {
  for (const { name, hasOneRow } of COPIED_TABLES) if (!hasOneRow) await target.run(`DELETE FROM ${name}`)
  await target.run(`DELETE FROM ${MOVE_TABLE}`)
  await write(target, SOURCE, sourceName)
}

async function write(target: MoveSide, name: string, state: string): Promise<void> {
  await target.run(
    `INSERT INTO ${MOVE_TABLE} (name, state) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET state = excluded.state`,
    [name, state],
  )
}

/** Returns the name of a store, which it has from its creation. */
async function clusterOf(side: MoveSide): Promise<string> {
  const [[name]] = (await side.rows('SELECT name FROM cluster')) as [[string]]
  return name
}
