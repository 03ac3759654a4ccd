// Encodes opcodes as JSON text, and defines how a pass treats each kind. Payloads are already encoded, so their text is spliced
// in and not parsed again.

import { type Opcode, type OpcodeOf, URL_CHARS_MAX } from '@perdure/protocol'
import type { StepId } from './step-ids.ts'

/** An opcode as JSON text. */
export interface EncodedOpcode {
  /** Hashed id of the step. */
  readonly id: string
  readonly op: Opcode['op']
  readonly text: string
  /** Whether the engine settles the step with this result when it stores the opcode, unless a limit is broken. */
  readonly settles: boolean
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
  return { id: id.hashedId, op, text: head.slice(0, -1) + tail, settles: settles(op, fields) }
}

/** A failed attempt settles its step only if no attempt follows and the handler may see the error. */
function settles(op: Opcode['op'], fields: object): boolean {
  const { error, retriable, catchable } = fields as Partial<OpcodeOf<'StepRun'>>
  if (op === 'StepRun') return error === undefined || (retriable === false && catchable === true)
  if (op === 'ReplyToUpdate') return true
  if (op === 'Emit') return isPlainText((fields as OpcodeOf<'Emit'>).eventName)
  return op === 'Webhook' && isPlainUrl((fields as OpcodeOf<'Webhook'>).webhookUrl)
}

/** Whether the engine is sure to accept the text: it refuses control characters and lone surrogates. */
function isPlainText(text: string): boolean {
  return !/[\p{Cc}\p{Cs}]/u.test(text)
}

/** Whether the engine is sure to accept the URL. */
function isPlainUrl(url: string): boolean {
  if (url.length > URL_CHARS_MAX || !isPlainText(url)) return false
  const { username, password } = new URL(url)
  return username === '' && password === ''
}

/** How a pass treats the opcodes of one kind. */
interface OpcodeRules {
  /** Whether the opcode carries the result of a finished callback, which would run again if the opcode were lost. */
  hasResult: boolean
  /** Whether the engine settles the step as soon as it is reported, so that the handler can continue after a checkpoint. */
  isUrgent: boolean
  /** Whether a step that nobody awaited is still reported after the handler returned. After a throw, only results are. */
  outlivesReturn: boolean
}

/** The type demands an entry for each kind of the wire protocol, so that a new kind cannot be forgotten. */
export const OPCODE_RULES = {
  StepRun: { hasResult: true, isUrgent: true, outlivesReturn: true },
  // The step runs in a later pass.
  StepLimit: { hasResult: false, isUrgent: false, outlivesReturn: true },
  // After a return, sleeps and waits have no effect any more.
  Sleep: { hasResult: false, isUrgent: false, outlivesReturn: false },
  SleepUntil: { hasResult: false, isUrgent: false, outlivesReturn: false },
  WaitForEvent: { hasResult: false, isUrgent: false, outlivesReturn: false },
  WaitForSignal: { hasResult: false, isUrgent: false, outlivesReturn: false },
  // Somebody waits for the answer.
  ReplyToUpdate: { hasResult: false, isUrgent: true, outlivesReturn: true },
  WaitForCallback: { hasResult: false, isUrgent: false, outlivesReturn: false },
  WaitForRun: { hasResult: false, isUrgent: false, outlivesReturn: false },
  RunWorkflow: { hasResult: false, isUrgent: false, outlivesReturn: true },
  StartRun: { hasResult: false, isUrgent: true, outlivesReturn: true },
  CancelRun: { hasResult: false, isUrgent: true, outlivesReturn: true },
  Emit: { hasResult: false, isUrgent: true, outlivesReturn: true },
  Webhook: { hasResult: false, isUrgent: true, outlivesReturn: true },
} as const satisfies Record<Opcode['op'], OpcodeRules>
