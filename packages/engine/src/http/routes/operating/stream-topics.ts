// Reads the topics of `GET /stream`. Used by stream.ts.

import { STREAM_TOPICS } from '@perdure/protocol/operations'
import { invalid } from '../../../domain/model/errors.ts'
import { NAMESPACE_TOPICS, type NamespaceTopic } from '../../live/topic-groups.ts'

const RUN_TOPIC = 'run:'
const BULK_TOPIC = 'bulk:'
/** Between the id of a run and the seq after which its timeline begins. */
const POSITION = /@(.*)$/

/** By run: the seq after which its timeline begins. */
export type Positions = ReadonlyMap<string, number>

export interface Topics {
  topics: NamespaceTopic[]
  positions: Positions
  bulkIds: string[]
}

/** Throws `invalid_request` naming a topic that is none. */
export function readTopics(given: readonly string[] = []): Topics {
  const names = new Set(given)
  if (names.size === 0) throw invalid('topics', `must name at least one of ${STREAM_TOPICS}`)
  const topics = NAMESPACE_TOPICS.filter(topic => names.delete(topic))
  const positions = new Map<string, number>()
  const bulkIds: string[] = []
  for (const name of names) {
    if (name.startsWith(BULK_TOPIC)) {
      bulkIds.push(name.slice(BULK_TOPIC.length))
      continue
    }
    const [runId, seq] = readRunTopic(name)
    positions.set(runId, Math.min(seq, positions.get(runId) ?? seq))
  }
  return { topics, positions, bulkIds }
}

function readRunTopic(name: string): [runId: string, seq: number] {
  if (!name.startsWith(RUN_TOPIC)) throw invalid('topics', `must be some of ${STREAM_TOPICS}, not "${name}"`)
  const [runId = '', seq] = name.slice(RUN_TOPIC.length).split(POSITION)
  if (seq === undefined) return [runId, 0]
  if (!/^\d{1,16}$/.test(seq) || !Number.isSafeInteger(Number(seq)))
    throw invalid('topics', `must have an integer from 0 to ${Number.MAX_SAFE_INTEGER} after the @ of "${name}"`)
  return [runId, Number(seq)]
}
