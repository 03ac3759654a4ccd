// Encodes opcodes as JSON text. Payloads are encoded before, so their text is spliced in and not parsed again. Called by
// the step tools.

import type { Opcode, OpcodeOf } from '@perdure/protocol'
import type { StepId } from './step-ids.ts'

/** An opcode as JSON text. */
export interface EncodedOpcode {
  /** Hashed id of the step. */
  readonly id: string
  readonly op: Opcode['op']
  readonly text: string
}

/** The fields of an opcode except its kind, its identity and its payload. */
type Fields<Op extends Opcode['op']> = Omit<OpcodeOf<Op>, 'op' | 'id' | 'name' | 'data' | 'childData'>

/** The payload of an opcode: JSON text, or undefined for none. */
export interface Payload {
  readonly field: 'data' | 'childData'
  readonly text: string | undefined
}

/** Encodes one entry of `opcodes`. See docs/wire-protocol.md#opcodes. */
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
