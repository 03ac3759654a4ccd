// The rules of roll-ups, as queries over all days: an app has the sum of its workflows, a namespace the sum of its apps, and all
// time the sum of all days. Only days are kept for ever, so only they are checked.

import type { Snapshot, Violations } from './check.ts'
import { VIOLATIONS_PER_QUERY_MAX } from './check.ts'

const ENDS = ['succeeded', 'failed', 'cancelled']
const COUNTS = ['started', ...ENDS, ...ENDS.map(name => `coalesce(on_failure_${name}, 0)`)]
const differs = (left: string, right: string) =>
  COUNTS.map(
    count => `sum(CASE WHEN ${left} THEN ${count} ELSE 0 END) <> sum(CASE WHEN ${right} THEN ${count} ELSE 0 END)`,
  ).join(' OR ')

const LEVELS = `SELECT namespace, at FROM run_rollups WHERE span = '1d' GROUP BY namespace, at
  HAVING ${differs(`app = ''`, `app <> '' AND workflow = ''`)} OR ${differs(`app = ''`, `workflow <> ''`)}`
const TOTALS = `SELECT namespace, app, workflow FROM run_rollups WHERE span IN ('1d', 'all') AND workflow <> ''
  GROUP BY namespace, app, workflow HAVING ${differs(`span = 'all'`, `span = '1d'`)}`

const POST_LEVELS = `SELECT namespace, at FROM endpoint_rollups WHERE span = '1d' GROUP BY namespace, at
  HAVING sum(CASE WHEN endpoint_id = '' THEN posts ELSE -posts END) <> 0`

export async function* rollupContents(snapshot: Snapshot): Violations {
  for (const [namespace, at] of await snapshot.rows(`${LEVELS} LIMIT ${VIOLATIONS_PER_QUERY_MAX}`)) {
    const message = `counts a different number of runs in total than by app or workflow on the day of ${at}`
    yield { check: 'rollup.levels', subject: String(namespace), message }
  }
  for (const [namespace, app, workflow] of await snapshot.rows(`${TOTALS} LIMIT ${VIOLATIONS_PER_QUERY_MAX}`)) {
    const message = `of app ${app} in namespace ${namespace} counts a different number of runs in total than on all days together`
    yield { check: 'rollup.total', subject: String(workflow), message }
  }
  for (const [namespace, at] of await snapshot.rows(`${POST_LEVELS} LIMIT ${VIOLATIONS_PER_QUERY_MAX}`)) {
    const message = `counts a different number of posts in total than to its endpoints on the day of ${at}`
    yield { check: 'rollup.posts', subject: String(namespace), message }
  }
}
