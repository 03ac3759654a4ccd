// Opcodes as text: payloads are already encoded when an opcode is made, so they are spliced, not parsed again.

import type { Opcode, OpcodeOf } from '@perdure/protocol'
import type { StepId } from './step-ids.ts'

export interface EncodedOpcode {
  /** Hashed id of the step. */
  readonly id: string
  readonly op: Opcode['op']
  readonly text: string
}

/** The fields an opcode has besides its kind, its identity and its encoded payload. */
type Fields<Op extends Opcode['op']> = Omit<OpcodeOf<Op>, 'op' | 'id' | 'name' | 'data' | 'childData'>

export interface Payload {
  readonly field: 'data' | 'childData'
  readonly text: string | undefined
}

/** One entry of `opcodes` (contract §2.11). */
export function encodeOpcode<Op extends Opcode['op']>(
  op: Op,
  id: StepId,
  fields: Fields<Op>,
  payload?: Payload,
): EncodedOpcode {
  const head = JSON.stringify({ op, id: id.hashedId, name: id.name, ...fields })
  const tail = payload?.text === undefined ? '}' : `,"${payload.field}":${payload.text}}`
  return { id: id.hashedId, op, text: head.slice(0, -1) + tail }
}
