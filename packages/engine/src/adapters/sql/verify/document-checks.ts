// Checks of documents: the engine knows the state of an error group, and the group has a stored run; a view has a name and a
// query.

import { STORED_STATES } from '../../../domain/model/document/error-state.ts'
import { type Snapshot, VIOLATIONS_PER_QUERY_MAX, type Violations } from './check.ts'
import { unreadable } from './contents.ts'

const PAGE = 200
const STATES = STORED_STATES.map(state => `'${state}'`).join(', ')

/** Unknown states, and states whose group has no run. Retention and erasing remove the state with the last run. */
const WRONG_STATES = `SELECT id, namespace, content FROM documents AS d WHERE kind = 'error' AND (content NOT IN (${STATES})
    OR NOT EXISTS (SELECT 1 FROM runs WHERE runs.namespace = d.namespace AND runs.error_key = d.id))
  LIMIT ${VIOLATIONS_PER_QUERY_MAX}`

export async function* documentContents(snapshot: Snapshot): Violations {
  for (const [id, namespace, state] of await snapshot.rows(WRONG_STATES)) {
    const message = `has the state ${state} in namespace ${namespace}, but this state does not exist or no run of the group is stored`
    yield { check: 'error.state', subject: String(id), message }
  }
  for (let after = ['', '']; ; ) {
    const rows = await snapshot.rows(
      `SELECT id, namespace, content FROM documents WHERE kind = 'view' AND (namespace, id) > (?, ?)
        ORDER BY namespace, id LIMIT ${PAGE}`,
      after,
    )
    yield* unreadable('view.readable', rows, ([, , content]) => {
      const { name, query } = JSON.parse(content as string) as Record<string, unknown>
      if (typeof name !== 'string' || typeof query !== 'string') throw new Error('it has no name or no query')
    })
    const [id, namespace] = rows.at(-1) ?? []
    if (id === undefined) return
    after = [namespace as string, id as string]
  }
}
