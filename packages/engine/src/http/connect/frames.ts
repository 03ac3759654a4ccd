// Reads and writes Connect frames: each is one JSON text `{type, id, payload}` (docs/wire-protocol.md#frames). The payloads
// of results and checkpoints are cut out of the text and never serialised again.

import type { FrameType } from '@perdure/protocol'
import { EngineError, invalid } from '../../domain/model/errors.ts'
import { objectMember } from '../../domain/text/json-text.ts'

export interface IncomingFrame {
  type: string
  /** Empty when the runner sent none. */
  id: string
  payload: unknown
  text: string
}

/** Answers repeat the id. */
const FRAME_ID_LENGTH_MAX = 256

/** Throws `invalid_request` when the text is not a frame. */
export function readFrame(text: string): IncomingFrame {
  let frame: unknown
  try {
    frame = JSON.parse(text)
  } catch (cause) {
    throw new EngineError('invalid_request', 'a frame must be valid JSON', { cause })
  }
  const { type, id = '', payload } = (frame ?? {}) as Record<string, unknown>
  if (typeof type !== 'string') throw invalid('type', 'must be a string')
  if (typeof id !== 'string' || id.length > FRAME_ID_LENGTH_MAX) {
    throw invalid('id', `must be a string of at most ${FRAME_ID_LENGTH_MAX} characters`)
  }
  return { type, id, payload, text }
}

/** Every frame has a payload, even if it is empty: strict peers require it. */
export function writeFrame(type: FrameType, id: string, payload = '{}'): string {
  return `{"type":"${type}","id":${JSON.stringify(id)},"payload":${payload}}`
}

/** The status and body of an `invoke.result`. A body that is a string is raw text; any other is the JSON text as sent. */
export function readResult({ payload, text }: IncomingFrame): { status: number; body: string } {
  const { status, body } = objectOf(payload)
  if (!Number.isInteger(status) || (status as number) < 100 || (status as number) > 599) {
    throw invalid('payload.status', 'must be an HTTP status, an integer from 100 to 599')
  }
  const rawBody = () => objectMember(objectMember(text, 'payload') as string, 'body') ?? ''
  return { status: status as number, body: typeof body === 'string' ? body : rawBody() }
}

/** The payload of an `invoke.checkpoint`, as sent. */
export function readCheckpoint({ payload, text }: IncomingFrame): string {
  objectOf(payload)
  return objectMember(text, 'payload') as string
}

function objectOf(payload: unknown): Record<string, unknown> {
  if (typeof payload === 'object' && payload !== null && !Array.isArray(payload)) {
    return payload as Record<string, unknown>
  }
  throw invalid('payload', 'must be an object')
}
