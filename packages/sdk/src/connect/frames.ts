// Frames as text. What is large (results, opcodes) is spliced in as the JSON text that it already is.

import type { Answer } from '../replay/answer.ts'
import type { CheckpointReport } from '../replay/checkpoint.ts'

/** A frame that came, as far as it can be relied on. */
export interface IncomingFrame {
  readonly type: string
  readonly id: string
  readonly payload: unknown
}

/** Reads a frame; undefined when it is none. */
export function readFrame(text: string): IncomingFrame | undefined {
  try {
    const frame = JSON.parse(text) as Partial<IncomingFrame> | null
    if (typeof frame?.type !== 'string') return undefined
    return { type: frame.type, id: typeof frame.id === 'string' ? frame.id : '', payload: frame.payload }
  } catch {
    return undefined
  }
}

/** A field of a payload that may be anything. */
export function fieldOf(payload: unknown, name: string): unknown {
  return typeof payload === 'object' && payload !== null
    ? (payload as Record<string, unknown>)[name]
    : undefined
}

export function frameText(type: string, id: string, payload: unknown = {}): string {
  return JSON.stringify({ type, id, payload })
}

export function resultText(id: string, { status, body }: Answer): string {
  return `{"type":"invoke.result","id":${JSON.stringify(id)},"payload":{"status":${status},"body":${body}}}`
}

export function checkpointText(id: string, seq: number, { opcodes, logs }: CheckpointReport): string {
  const payload = `{"seq":${seq},"opcodes":${opcodes},"logs":${logs}}`
  return `{"type":"invoke.checkpoint","id":${JSON.stringify(id)},"payload":${payload}}`
}
