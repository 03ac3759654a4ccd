// The series of posts to webhook endpoints, from their roll-ups. Called by the reads.

import { noDurations } from '../../../domain/view/durations.ts'
import type { PostTally } from '../../../domain/webhook/attempt-tally.ts'
import type { EndpointSeriesQuery } from '../../../ports/store-statistics.ts'
import type { Query, Row } from '../description/values.ts'
import { storedCounts } from './summed-rows.ts'

export function endpointSeriesQuery(
  namespace: string,
  { step, since, until, endpointId = '' }: EndpointSeriesQuery,
): Query {
  return {
    sql: `SELECT at, CAST(sum(CASE WHEN outcome = 'succeeded' THEN posts ELSE 0 END) AS bigint), CAST(sum(posts) AS bigint),
        string_agg(CASE WHEN duration_class >= 0 THEN duration_class || ':' || posts || ',' END, '')
      FROM endpoint_rollups WHERE span = ? AND namespace = ? AND endpoint_id = ? AND at >= ? AND at < ? GROUP BY at`,
    params: [step, namespace, endpointId, since, until],
  }
}

type SpanRow = [at: number, succeeded: number, posts: number, counts: string | null]

/** The spans with posts, by the time when they begin. */
export function endpointSeries(rows: readonly Row[]): Map<number, PostTally> {
  return new Map(
    (rows as SpanRow[]).map(([at, succeeded, posts, counts]) => {
      const durations = { ...noDurations(), counts: storedCounts(counts ?? '') }
      return [at, { succeeded, failed: posts - succeeded, durations }]
    }),
  )
}
