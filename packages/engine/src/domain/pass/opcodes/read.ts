// Reads the opcodes of a runner's answer or checkpoint, each by the schema of its op (contract §2.11). Payloads are kept
// as the text they came in. Called by outcome.ts; what becomes of them is decided by opcodes.ts.

import type { Opcode } from '@perdure/protocol'
import { OPCODES_MAX, OpcodeSchema } from '@perdure/protocol/schema'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { arrayElements, type JsonText, objectMember } from '../../text/json-text.ts'

type Payload = 'data' | 'childData'
/** Checked where the step is taken up: what is wrong with them fails the step, where its handler can catch it. */
type OfTheStep = 'eventName' | 'webhookUrl'

/** An opcode whose payload is kept as the text it came in. */
export type PassOpcode = Read<Opcode>
type Read<T> = T extends unknown
  ? Omit<T, Payload | OfTheStep> & { data?: JsonText } & { [K in keyof T & OfTheStep]?: unknown }
  : never
export type PassOpcodeOf<Op extends Opcode['op']> = Extract<PassOpcode, { op: Op }>

type Branch = (typeof OpcodeSchema.anyOf)[number]
const readers = new Map(
  OpcodeSchema.anyOf.map(branch => [branch.properties.op.const as string, reader(branch)]),
)

function reader({ properties }: Branch) {
  const anything = Type.Optional(Type.Unknown())
  return Compile(
    Type.Object({
      ...properties,
      ...('eventName' in properties ? { eventName: anything } : {}),
      ...('webhookUrl' in properties ? { webhookUrl: anything } : {}),
    }),
  )
}

/** The member `opcodes` of the object that `text` says, or what is wrong with it. */
export function readOpcodes(parsed: object, text: JsonText): PassOpcode[] | string {
  const { opcodes } = parsed as { opcodes?: unknown }
  if (!Array.isArray(opcodes)) return '/opcodes must be an array'
  if (opcodes.length > OPCODES_MAX) return `/opcodes must not have more than ${OPCODES_MAX} items`
  for (const [i, opcode] of opcodes.entries()) {
    const problem = problemOf(opcode)
    if (problem !== undefined) return `/opcodes/${i}${problem}`
  }
  const texts = arrayElements(objectMember(text, 'opcodes') as JsonText)
  return opcodes.map((opcode, i) => withRawData(opcode, texts[i] as JsonText))
}

function problemOf(opcode: unknown): string | undefined {
  if (typeof opcode !== 'object' || opcode === null) return ' must be an object'
  const { op } = opcode as { op?: unknown }
  const reader = readers.get(op as string)
  if (!reader) return `/op must be one of ${[...readers.keys()].join(', ')}`
  if (reader.Check(opcode)) return undefined
  leaveOutNulls(opcode)
  if (reader.Check(opcode)) return undefined
  const [first] = reader.Errors(opcode)
  return first ? `${first.instancePath} ${first.message}` : ' has the wrong shape'
}

/** A runner that writes out whole structs says null of what it has not. Payloads are read from the text. */
function leaveOutNulls(opcode: object): void {
  for (const [name, value] of Object.entries(opcode)) {
    if (value === null) delete (opcode as Record<string, unknown>)[name]
  }
}

function withRawData(opcode: Opcode, text: JsonText): PassOpcode {
  const data = objectMember(text, opcode.op === 'RunWorkflow' ? 'childData' : 'data')
  // Whatever was parsed as `data` must not pass for a text, also where an opcode has no such field. The opcode is
  // ours to change: it was parsed a moment ago, and a copy of each costs a tenth of reading a large fan-out.
  const read = opcode as PassOpcode
  if (data !== undefined || 'data' in opcode) read.data = data
  return read
}
