// The definitions of a workflow in pages, newest first. A page ends where the definitions get large. Called by the reads.

import type { KeptDefinition } from '../../../domain/model/workflow.ts'
import type { DefinitionsQuery } from '../../../ports/definition-reads.ts'
import type { Query, Row, Value } from '../description/values.ts'
import { WORKFLOW_DEFINITIONS } from '../tables/workflow-definitions.ts'

/** The definition that takes the page over this many bytes is its last. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024

const COLUMNS = WORKFLOW_DEFINITIONS.columns.join(', ')

export async function definitionPage(
  read: (query: Query) => Promise<Row[]>,
  namespace: string,
  { app, workflow, before, limit }: DefinitionsQuery,
): Promise<KeptDefinition[]> {
  const params: Value[] = [namespace, app, workflow, ...(before === undefined ? [] : [before]), PAGE_BYTES_MAX, limit]
  const sql = `SELECT ${COLUMNS} FROM (
      SELECT ${COLUMNS}, sum(octet_length(definition)) OVER (ORDER BY registered_at DESC ROWS UNBOUNDED PRECEDING)
        - octet_length(definition) AS bytes_before
      FROM workflow_definitions WHERE namespace = ? AND app = ? AND workflow = ?
        ${before === undefined ? '' : 'AND registered_at < ?'}) AS sized
    WHERE bytes_before < ? ORDER BY registered_at DESC LIMIT ?`
  return (await read({ sql, params })).map(WORKFLOW_DEFINITIONS.fromRow)
}
