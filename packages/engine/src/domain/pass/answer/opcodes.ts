// Reads the opcodes of a runner's answer or checkpoint, each by the schema of its kind (docs/wire-protocol.md#opcodes).
// Payloads are kept as the text in which they came. Called by outcome.ts; apply-opcodes.ts drafts the consequences of the
// opcodes.

import type { Opcode } from '@perdure/protocol'
import { OPCODES_MAX, OpcodeSchema } from '@perdure/protocol/schema'
import Type from 'typebox'
import { arrayElements, type JsonText, objectMember } from '../../text/json-text.ts'
import { compiledOnce } from '../../text/schema/compiled-schema.ts'
import type { MemberCheckedByStep, PassOpcode } from '../opcodes/opcode.ts'
import { OPCODES } from '../opcodes/registry.ts'

/** The schemas of `MemberCheckedByStep`: anything goes here, since the opcode's own rules check these members. */
const CHECKED_BY_STEP = {
  eventName: Type.Optional(Type.Unknown()),
  webhookUrl: Type.Optional(Type.Unknown()),
  signal: Type.Optional(Type.Unknown()),
} satisfies Record<MemberCheckedByStep, unknown>

type Branch = (typeof OpcodeSchema.anyOf)[number]
const readers = new Map(OpcodeSchema.anyOf.map(branch => [branch.properties.op.const as string, reader(branch)]))

function reader({ properties }: Branch) {
  const lenient = Object.entries(CHECKED_BY_STEP).filter(([member]) => member in properties)
  return compiledOnce(Type.Object({ ...properties, ...Object.fromEntries(lenient) }))
}

/** The features that engine and runner have agreed on, if they concern an answer (docs/wire-protocol.md#features). */
export interface Negotiated {
  /** Failed steps may have a retry policy. Otherwise it is an unknown field, and ignored. */
  stepPolicy: boolean
  /** Waits may list the events that the handler was given. Otherwise it was given all of its memo. */
  waitOrder: boolean
  /** Steps may report that they can be undone. Otherwise nobody could undo them, and the report is ignored. */
  cleanup: boolean
  /** Steps may report what their attempt spent. Otherwise it is ignored. */
  budgets: boolean
  /** Answers and checkpoints may have attributes. Otherwise they are ignored. */
  attributes: boolean
  /** A 200 may continue the run as another one, instead of its result. Otherwise that is ignored. */
  continueAs: boolean
  /** A 200 may have the steps that the pass ended with. Otherwise they are ignored. */
  endWithSteps: boolean
}

type OpcodesNegotiated = Pick<Negotiated, 'stepPolicy' | 'waitOrder' | 'cleanup' | 'budgets'>

/** The opcodes of the object that `text` contains, or the problem with them. */
export function readOpcodes(parsed: object, text: JsonText, negotiated: OpcodesNegotiated): PassOpcode[] | string {
  const { opcodes } = parsed as { opcodes?: unknown }
  if (!Array.isArray(opcodes)) return '/opcodes must be an array'
  if (opcodes.length > OPCODES_MAX) return `/opcodes must not have more than ${OPCODES_MAX} items`
  for (const [i, opcode] of opcodes.entries()) {
    if (typeof opcode === 'object' && opcode !== null) leaveOutUnusable(opcode, negotiated)
    const problem = problemOf(opcode)
    if (problem !== undefined) return `/opcodes/${i}${problem}`
  }
  const texts = arrayElements(objectMember(text, 'opcodes') as JsonText)
  return opcodes.map((opcode, i) => withRawData(opcode, texts[i] as JsonText))
}

/** Leaves out members that were not negotiated, and invalid measured times: both are ignored, like unknown fields. */
function leaveOutUnusable(
  opcode: Record<string, unknown>,
  { stepPolicy, waitOrder, cleanup, budgets }: OpcodesNegotiated,
): void {
  if (!stepPolicy) delete opcode.retry
  if (!cleanup) delete opcode.rollback
  if (!budgets) delete opcode.spent
  if (!waitOrder) {
    delete opcode.given
    delete opcode.since
  }
  for (const member of MEASURED) {
    const value = opcode[member]
    if (value !== undefined && !(typeof value === 'number' && value >= 0)) delete opcode[member]
  }
}

const MEASURED = ['offsetMs', 'durationMs'] as const

function problemOf(opcode: unknown): string | undefined {
  if (typeof opcode !== 'object' || opcode === null) return ' must be an object'
  const { op } = opcode as { op?: unknown }
  const reader = readers.get(op as string)?.()
  if (!reader) return `/op must be one of ${[...readers.keys()].join(', ')}`
  if (reader.Check(opcode)) return undefined
  leaveOutNulls(opcode)
  if (reader.Check(opcode)) return undefined
  const [first] = reader.Errors(opcode)
  return first ? `${first.instancePath} ${first.message}` : ' has the wrong shape'
}

/** Leaves out members that are null: some runners write every member of a struct. Payloads are read from the text. */
function leaveOutNulls(opcode: object): void {
  for (const [name, value] of Object.entries(opcode)) {
    if (value === null) delete (opcode as Record<string, unknown>)[name]
  }
}

/**
 * The opcode with its payload as text in `data`. A parsed value must not be taken for such a text, not even in an opcode
 * without a payload. The opcode itself is changed: it was parsed a moment ago, and a copy of each opcode costs a tenth of
 * reading a large fan-out.
 */
function withRawData(opcode: Opcode, text: JsonText): PassOpcode {
  const { payload } = OPCODES[opcode.op]
  const data = payload === null ? undefined : objectMember(text, payload)
  const read = opcode as PassOpcode
  if (data !== undefined || 'data' in opcode) read.data = data
  return read
}

/**
 * The opcodes of a 200, which must be steps that the pass has executed and that settle at once. Otherwise the problem with
 * them.
 */
export function readLastOpcodes(parsed: object, text: JsonText, negotiated: Negotiated): PassOpcode[] | string {
  const opcodes = readOpcodes(parsed, text, negotiated)
  if (typeof opcodes === 'string') return opcodes
  const other = opcodes.findIndex(opcode => !isSettling(opcode))
  return other < 0 ? opcodes : `/opcodes/${other} must be a step that has settled, since the run ends with it`
}

function isSettling(opcode: PassOpcode): boolean {
  if (opcode.op !== 'StepRun') return ['Emit', 'Webhook', 'ReplyToUpdate'].includes(opcode.op)
  return opcode.error === undefined || (opcode.retriable === false && opcode.catchable === true)
}
