// The messages that a runner reads and writes, based only on docs/wire-protocol.md. They share no code with the engine.

import { createHash, createHmac } from 'node:crypto'

/** The features of an engine of this version, in their order. */
export const ENGINE_FEATURES: readonly string[] = [
  'signature-v2',
  'step-policy',
  'memo-op',
  'memo-attempt',
  'invoke-timeout',
  'step-times',
  'attributes',
  'end-with-steps',
  'http-checkpoints',
  'marked-answers',
  'beats',
  'running-steps',
  'wait-order',
  'another-pass',
  'callbacks',
  'continue-as',
  'schemas',
  'cleanup',
  'wait-for-run',
  'start-run',
  'budgets',
  'signals',
  'batch-events',
  'step-limits',
  'streams',
]

export interface StepError {
  message: string
  name?: string
  stack?: string
}

export interface MemoEntry {
  data?: unknown
  error?: StepError
  pending?: boolean
}

export interface InvokeRequest {
  event: { id?: string; name: string; data?: unknown }
  steps: Record<string, MemoEntry>
  ctx: {
    runId: string
    workflow: string
    attempt: number
    app: string
    runner: string
    onFailure?: boolean
    error?: StepError
    /** Only for a cleanup run. */
    cleanup?: {
      runId: string
      status: 'failed' | 'cancelled'
      error?: StepError
      steps: Record<string, MemoEntry & { op: string; name: string; rollback?: true }>
    }
    traceparent?: string
    checkpointToken?: string
    checkpointUrl?: string
    callbackUrl?: string
    callbackKey?: string
  }
}

/** The URL of a callback of the invoke's run (docs/wire-protocol.md#callbacks). */
export function callbackUrl({ callbackUrl = '', callbackKey = '' }: InvokeRequest['ctx'], name: string): string {
  const id = stepId(name)
  return `${callbackUrl}${id}.${createHmac('sha256', callbackKey).update(id).digest('hex')}`
}

export interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error'
  message: string
  fields?: Record<string, unknown>
  scope: string
  index: number
  tsMs?: number
}

export type Opcode = { op: string; id: string; name: string } & Record<string, unknown>

/** Lowercase hex of SHA-256 over the UTF-8 bytes of the step id. */
export function stepId(name: string): string {
  return createHash('sha256').update(name, 'utf8').digest('hex')
}

/** An opcode of a step that uses its name once. */
export function opcode(op: string, name: string, fields: Record<string, unknown> = {}): Opcode {
  return { op, id: stepId(name), name, ...fields }
}

export type Reply =
  | { status: number; body?: unknown; text?: string }
  /** Anything else that can happen to a request. */
  | RawReply
export type RawReply = (
  request: import('node:http').IncomingMessage,
  response: import('node:http').ServerResponse,
) => void

/** 200: the handler returned. */
export function returned(data?: unknown, logs: LogLine[] = []): Reply {
  return { status: 200, body: { data, logs } }
}

/** 206: steps were discovered. */
export function discovered(opcodes: Opcode[], logs: LogLine[] = []): Reply {
  return { status: 206, body: { opcodes, logs } }
}
