// The table of posts to webhook endpoints in numbers, by the time of their ends. Unlike the roll-ups of runs, each post is
// counted in the commit of its end: a post takes far longer than its six rows.

import type { CountedPost } from '../../../domain/model/delivery.ts'
import { type SeriesStep, SPAN_MS, spanStart } from '../../../domain/view/rollup-span.ts'
import { integer, text } from '../description/column.ts'
import { table } from '../description/table.ts'
import type { Value } from '../description/values.ts'

/** Posts of one span, one outcome and one class of durations: to an endpoint, or to all of a namespace (`endpointId` is empty). */
export interface EndpointRollup extends CountedPost {
  span: SeriesStep
  posts: number
}

export const ENDPOINT_ROLLUPS = table<EndpointRollup>()('endpoint_rollups', {
  key: ['span', 'namespace', 'endpoint_id', 'at', 'outcome', 'duration_class'],
  since: 2,
  fixed: {
    span: text,
    namespace: text,
    endpointId: text,
    at: integer,
    outcome: text,
    durationClass: integer,
    posts: integer,
  },
  indexes: { endpoint_rollups_by_age: { on: 'span, at' } },
})

/** Counts one post in a row, whose key is the parameters. */
export const COUNT_POST = `INSERT INTO endpoint_rollups (span, namespace, endpoint_id, at, outcome, duration_class, posts)
  VALUES (?, ?, ?, ?i, ?, ?i, 1)
  ON CONFLICT (span, namespace, endpoint_id, at, outcome, duration_class)
  DO UPDATE SET posts = endpoint_rollups.posts + 1`

/** The keys of the rows that count the post: for its endpoint and for all endpoints, in a span of each length. */
export function rollupKeysOf({ namespace, endpointId, at, outcome, durationClass }: CountedPost): Value[][] {
  const spans = Object.keys(SPAN_MS) as SeriesStep[]
  return spans.flatMap(span =>
    [endpointId, ''].map(each => [span, namespace, each, spanStart(span, at), outcome, durationClass]),
  )
}
