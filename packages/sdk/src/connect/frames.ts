// Encodes and decodes the frames of a Connect socket. Results and opcodes are large; they are JSON text already and are spliced
// in. Called by the socket, the link and the passes.

import { type CheckpointReport, checkpointPayload } from '../pass/checkpoints.ts'
import type { Answer } from '../replay/answer.ts'
import { type Append, appendText } from '../stream/outlet.ts'

/** A received frame. Its type and id are checked, but not its payload. */
export interface IncomingFrame {
  readonly type: string
  readonly id: string
  readonly payload: unknown
}

/** Sends the frames of a pass. Without a connection it drops them. */
export interface Outlet {
  send(frame: string): void
}

/** Parses a frame. Returns undefined for a text that is not a frame. */
export function readFrame(text: string): IncomingFrame | undefined {
  try {
    const frame = JSON.parse(text) as Partial<IncomingFrame> | null
    if (typeof frame?.type !== 'string') return undefined
    return { type: frame.type, id: typeof frame.id === 'string' ? frame.id : '', payload: frame.payload }
  } catch {
    return undefined
  }
}

/** Returns a field of an unchecked payload; undefined when the payload is not an object. */
export function fieldOf(payload: unknown, name: string): unknown {
  return typeof payload === 'object' && payload !== null ? (payload as Record<string, unknown>)[name] : undefined
}

export function frameText(type: string, id: string, payload: unknown = {}): string {
  return JSON.stringify({ type, id, payload })
}

export function resultText(id: string, { status, body }: Answer): string {
  return `{"type":"invoke.result","id":${JSON.stringify(id)},"payload":{"status":${status},"body":${body}}}`
}

export function checkpointText(id: string, seq: number, report: CheckpointReport): string {
  return `{"type":"invoke.checkpoint","id":${JSON.stringify(id)},"payload":${checkpointPayload(seq, report)}}`
}

export function streamText(id: string, append: Append): string {
  return `{"type":"invoke.stream","id":${JSON.stringify(id)},"payload":${appendText(append)}}`
}
