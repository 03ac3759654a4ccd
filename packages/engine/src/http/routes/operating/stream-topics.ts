// Reads the topics of `GET /stream`. Used by stream.ts.

import { STREAM_TOPICS } from '@perdure/protocol/operations'
import { invalid } from '../../../domain/model/errors.ts'
import { NAMESPACE_TOPICS, type NamespaceTopic } from '../../live/topic-groups.ts'

const RUN_TOPIC = 'run:'
const BULK_TOPIC = 'bulk:'
/** Separates the id of a run, or the name of its stream, from the position to begin at. */
const POSITION = /@(.*)$/

/** By run: the seq after which its timeline begins. */
export type Positions = ReadonlyMap<string, number>

/** An output stream of a run, and the offset at which it begins. */
export interface StreamTopic {
  runId: string
  name: string
  from: number
}

export interface Topics {
  topics: NamespaceTopic[]
  positions: Positions
  streams: StreamTopic[]
  bulkIds: string[]
}

/** Throws `invalid_request`, naming an unknown topic. */
export function readTopics(given: readonly string[] = []): Topics {
  const names = new Set(given)
  if (names.size === 0) throw invalid('topics', `must name at least one of ${STREAM_TOPICS}`)
  const topics = NAMESPACE_TOPICS.filter(topic => names.delete(topic))
  const positions = new Map<string, number>()
  const streams: StreamTopic[] = []
  const bulkIds: string[] = []
  for (const name of names) {
    if (name.startsWith(BULK_TOPIC)) {
      bulkIds.push(name.slice(BULK_TOPIC.length))
      continue
    }
    const { runId, stream, position } = readRunTopic(name)
    if (stream !== undefined) streams.push({ runId, name: stream, from: position })
    else positions.set(runId, Math.min(position, positions.get(runId) ?? position))
  }
  return { topics, positions, streams, bulkIds }
}

/** Separates the id of a run from the name of its stream. */
const STREAM = /:([A-Za-z0-9_.-]{1,64})$/

function readRunTopic(name: string): { runId: string; stream?: string; position: number } {
  if (!name.startsWith(RUN_TOPIC)) throw invalid('topics', `must be some of ${STREAM_TOPICS}, not "${name}"`)
  const [of = '', position] = name.slice(RUN_TOPIC.length).split(POSITION)
  const [runId = '', stream] = of.split(STREAM)
  return { runId, ...(stream !== undefined && { stream }), position: readPosition(name, position) }
}

function readPosition(name: string, seq: string | undefined): number {
  if (seq === undefined) return 0
  if (!/^\d{1,16}$/.test(seq) || !Number.isSafeInteger(Number(seq)))
    throw invalid('topics', `must have an integer from 0 to ${Number.MAX_SAFE_INTEGER} after the @ of "${name}"`)
  return Number(seq)
}
