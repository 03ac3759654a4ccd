// Reads a runner's append to an output stream (docs/wire-protocol.md#output-streams).

import { STREAM_CHUNK_BYTES_MAX } from '@perdure/protocol'
import { StreamAppendSchema } from '@perdure/protocol/schema'
import { arrayElements, isDeeperThan, JSON_DEPTH_MAX, type JsonText, objectMember } from '../text/json-text.ts'
import { compiledOnce } from '../text/schema/compiled-schema.ts'

/** Chunks that a step appends to a stream. */
export interface Append {
  /** Hashed id of the step. */
  stepId: string
  /** Name of the step. */
  step: string
  name: string
  /** From 1, for each pass, step and stream. */
  seq: number
  /** At least one. */
  chunks: readonly JsonText[]
  /** Bytes of all chunks. */
  bytes: number
}

/** Why an append is refused, with a code of the error catalogue. */
export interface Refusal {
  code: 'invalid_request' | 'payload_too_large' | 'conflict' | 'gone'
  message: string
}

const append = compiledOnce(StreamAppendSchema)
/** Levels of nesting around a chunk: the body and its list of chunks. */
const ENVELOPE_DEPTH = 2

/** The append, or why it cannot be read. The names in a refusal are as they were sent, if they can be read. */
export function readAppend(
  payload: string,
): Append | { refusal: Refusal; stepId?: unknown; name?: unknown; seq?: unknown } {
  let parsed: unknown
  try {
    parsed = JSON.parse(payload)
  } catch {
    return { refusal: invalid('the append must be valid JSON') }
  }
  const { stepId, step, name, seq } = (parsed ?? {}) as Record<string, unknown>
  const refused = (refusal: Refusal) => ({ refusal, stepId, name, seq })
  if (!append().Check(parsed)) {
    const [fault] = append().Errors(parsed)
    return refused(invalid(`${fault?.instancePath.slice(1).replaceAll('/', '.') || 'the append'} ${fault?.message}`))
  }
  if (isDeeperThan(payload, JSON_DEPTH_MAX + ENVELOPE_DEPTH))
    return refused(invalid(`chunks must be nested at most ${JSON_DEPTH_MAX} levels deep`))
  const chunks = arrayElements(objectMember(payload, 'chunks') as JsonText)
  let bytes = 0
  for (const chunk of chunks) {
    const size = Buffer.byteLength(chunk)
    if (size > STREAM_CHUNK_BYTES_MAX)
      return refused(tooLarge(`a chunk of ${size} bytes exceeds the limit of ${STREAM_CHUNK_BYTES_MAX} bytes`))
    bytes += size
  }
  return { stepId: stepId as string, step: step as string, name: name as string, seq: seq as number, chunks, bytes }
}

function invalid(message: string): Refusal {
  return { code: 'invalid_request', message }
}

export function tooLarge(message: string): Refusal {
  return { code: 'payload_too_large', message }
}
