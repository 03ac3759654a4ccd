// The rules of roll-ups, as queries over all days: an app has the sum of its workflows, a namespace the sum of its apps, and all
// time the sum of all days. Only days are kept for ever, so only they are checked.

import type { Check } from './check.ts'

const ENDS = ['succeeded', 'failed', 'cancelled']
const COUNTS = ['started', ...ENDS, ...ENDS.map(name => `coalesce(on_failure_${name}, 0)`)]
const differs = (left: string, right: string) =>
  COUNTS.map(
    count => `sum(CASE WHEN ${left} THEN ${count} ELSE 0 END) <> sum(CASE WHEN ${right} THEN ${count} ELSE 0 END)`,
  ).join(' OR ')

const LEVELS = `SELECT namespace, at FROM run_rollups WHERE span = '1d' GROUP BY namespace, at
  HAVING ${differs(`app = ''`, `app <> '' AND workflow = ''`)} OR ${differs(`app = ''`, `workflow <> ''`)}`
const TOTALS = `SELECT workflow, namespace, app FROM run_rollups WHERE span IN ('1d', 'all') AND workflow <> ''
  GROUP BY namespace, app, workflow HAVING ${differs(`span = 'all'`, `span = '1d'`)}`

const POST_LEVELS = `SELECT namespace, at FROM endpoint_rollups WHERE span = '1d' GROUP BY namespace, at
  HAVING sum(CASE WHEN endpoint_id = '' THEN posts ELSE -posts END) <> 0`

export const ROLLUP_CHECKS: readonly Check[] = [
  {
    name: 'rollup.levels',
    sql: LEVELS,
    message: ([, at]) => `counts a different number of runs in total than by app or workflow on the day of ${at}`,
  },
  {
    name: 'rollup.total',
    sql: TOTALS,
    message: ([, namespace, app]) =>
      `of app ${app} in namespace ${namespace} counts a different number of runs in total than on all days together`,
  },
  {
    name: 'rollup.posts',
    sql: POST_LEVELS,
    message: ([, at]) => `counts a different number of posts in total than to its endpoints on the day of ${at}`,
  },
]
