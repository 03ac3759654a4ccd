// The worker for one large JSON value: reads it, and answers with the rows to show. The nodes stay in the worker.

import type { WorkerScope } from '../../data/worker-scope.ts'
import type { JsonNode } from './parse.ts'
import { type TreeRow, type TreeState, treeRows } from './rows.ts'
import { readJson } from './veil-json.ts'

/** From the page: the value, once; after that, the nodes that are folded. */
export type ToWorker = { text: string; isVeiled: boolean } | { state: TreeState }
/** To the page: the rows, or that the value is not JSON. */
export type FromWorker = { rows: TreeRow[] } | { isJson: false }

const scope = self as unknown as WorkerScope<ToWorker, FromWorker>
let root: JsonNode | undefined

scope.onmessage = ({ data }) => {
  if ('text' in data) {
    root = readJson(data.text, data.isVeiled)
    if (root === undefined) scope.postMessage({ isJson: false })
  } else if (root) scope.postMessage({ rows: treeRows(root, data.state).map(withoutMembers) })
}

/** Removes the members from a row: the row only needs their number, because the members have their own rows. */
function withoutMembers(row: TreeRow): TreeRow {
  const { kind } = row.node
  if (kind === 'object') return { ...row, node: { kind, members: [] } }
  return kind === 'array' ? { ...row, node: { kind, items: [] } } : row
}
