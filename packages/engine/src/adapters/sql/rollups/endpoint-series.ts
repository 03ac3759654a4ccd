// The series of posts to webhook endpoints, from their roll-ups. Called by the reads.

import { addPosts, emptyPostTally, type PostTally } from '../../../domain/webhook/attempt-tally.ts'
import type { EndpointSeriesQuery } from '../../../ports/store-statistics.ts'
import type { Query, Row } from '../description/values.ts'
import { ENDPOINT_ROLLUPS } from '../tables/endpoint-rollups.ts'

export function endpointSeriesQuery(
  namespace: string,
  { step, since, until, endpointId = '' }: EndpointSeriesQuery,
): Query {
  return {
    sql: `SELECT ${ENDPOINT_ROLLUPS.select} FROM endpoint_rollups
      WHERE span = ? AND namespace = ? AND endpoint_id = ? AND at >= ? AND at < ?`,
    params: [step, namespace, endpointId, since, until],
  }
}

/** The spans with posts, by the time of their beginning. */
export function endpointSeries(rows: readonly Row[]): Map<number, PostTally> {
  const series = new Map<number, PostTally>()
  for (const row of rows.map(ENDPOINT_ROLLUPS.fromRow)) {
    const tally = series.get(row.at) ?? emptyPostTally()
    addPosts(tally, row)
    series.set(row.at, tally)
  }
  return series
}
