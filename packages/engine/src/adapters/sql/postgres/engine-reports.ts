// The reports of engines in the table `engines`. An engine writes its own report every few seconds, over a connection for reads:
// the writer's batches are for work.

import type { EngineReport, EngineReports } from '../../../ports/engine-reports.ts'
import type { Query, Row, Value } from '../description/values.ts'

/** In the schema since its second version. A report is replaced as a whole, and only engines read it. */
export const CREATE_ENGINES = `
-- One row per engine that runs on the store: its last report.
CREATE TABLE engines (
  id text COLLATE "C" PRIMARY KEY,
  seen_at bigint NOT NULL,
  report text NOT NULL
);
`

/** Engines that remove the same rows at the same time must not wait for each other. */
const PUT = `WITH old AS (
    DELETE FROM engines WHERE id IN (
      SELECT id FROM engines WHERE seen_at < ? AND id <> ? ORDER BY id LIMIT 1000 FOR UPDATE SKIP LOCKED))
  INSERT INTO engines (id, seen_at, report) VALUES (?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, report = excluded.report`

export class PostgresEngineReports implements EngineReports {
  readonly #execute: (query: Query) => Promise<Row[]>

  constructor(execute: (query: Query) => Promise<Row[]>) {
    this.#execute = execute
  }

  async put(report: EngineReport, removeBefore: number): Promise<void> {
    const { id, seenAt } = report
    await this.#rows(PUT, removeBefore, id, id, seenAt, JSON.stringify(report))
  }

  async remove(engineId: string): Promise<void> {
    await this.#rows('DELETE FROM engines WHERE id = ?', engineId)
  }

  async list({ since, limit }: { since: number; limit: number }): Promise<EngineReport[]> {
    const sql = 'SELECT report FROM engines WHERE seen_at >= ? ORDER BY seen_at DESC, id LIMIT ?'
    return (await this.#rows(sql, since, limit)).map(([report]) => JSON.parse(report as string) as EngineReport)
  }

  #rows(sql: string, ...params: Value[]): Promise<Row[]> {
    return this.#execute({ sql, params })
  }
}
