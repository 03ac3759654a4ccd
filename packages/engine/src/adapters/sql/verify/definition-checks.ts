// Checks of the present and past definitions of workflows (docs/concepts.md#past-definitions): each is readable and has the hash
// by which runners name it; a workflow has no more of them than are kept, and none once it is gone. The pause of a registered
// workflow is only in its row.

import { DEFINITIONS_MAX } from '../../../domain/registry/definition-history.ts'
import { digestOf } from '../../../domain/registry/newest-definition.ts'
import type { Row, Value } from '../description/values.ts'
import { WORKFLOW_DEFINITIONS } from '../tables/workflow-definitions.ts'
import type { Snapshot, Violations } from './check.ts'
import { unreadable } from './contents.ts'

/** Definitions that are read at once. */
const PAGE = 100

/** Pauses that exist in addition to the rows of their workflows. */
const TWICE_KEPT = `SELECT k.name, k.app, k.namespace FROM kept_pauses AS k
  JOIN workflows AS w ON w.namespace = k.namespace AND w.app = k.app AND w.name = k.name`

/** Workflows with too many definitions, or that are not registered. */
const WRONGLY_KEPT = `SELECT d.workflow, d.app, d.namespace, count(*), count(w.name) FROM workflow_definitions AS d
  LEFT JOIN workflows AS w ON w.namespace = d.namespace AND w.app = d.app AND w.name = d.workflow
  GROUP BY d.namespace, d.app, d.workflow HAVING count(*) > ${DEFINITIONS_MAX} OR count(w.name) = 0`

export async function* definitionContents(snapshot: Snapshot): Violations {
  for (const [workflow, app, namespace, count, registered] of await snapshot.rows(WRONGLY_KEPT)) {
    const state = Number(registered) === 0 ? 'is not registered, and' : 'still'
    const message = `of app ${app} in namespace ${namespace} ${state} has ${count} definitions`
    yield { check: 'definition.kept', subject: String(workflow), message }
  }
  for (const [workflow, app, namespace] of await snapshot.rows(TWICE_KEPT)) {
    const message = `of app ${app} in namespace ${namespace} is registered, but its pause is stored as for an unregistered workflow`
    yield { check: 'pause.kept', subject: String(workflow), message }
  }
  for (let after: Value[] = ['', '', '', 0]; ; ) {
    const rows = await snapshot.rows(
      `SELECT workflow, ${WORKFLOW_DEFINITIONS.select} FROM workflow_definitions
        WHERE (namespace, app, workflow, registered_at) > (?, ?, ?, ?)
        ORDER BY namespace, app, workflow, registered_at LIMIT ${PAGE}`,
      after,
    )
    const last = rows.at(-1)
    if (!last) return
    yield* unreadable('definition.readable', rows, assertHash)
    after = last.slice(1, 5)
  }
}

function assertHash([, ...row]: Row): void {
  const {
    namespace,
    app,
    workflow: name,
    registeredAt: updatedAt,
    hash,
    definition,
  } = WORKFLOW_DEFINITIONS.fromRow(row)
  if (digestOf({ namespace, app, name, ...definition, updatedAt }) !== hash)
    throw new Error(`the hash ${hash} does not match the definition from ${new Date(updatedAt).toISOString()}`)
}
