// How the chunks of output streams leave a pass: the port of the transports.

import type { InvokeContext } from '@perdure/protocol'

/** Chunks that a step has written to one stream and that are sent together. */
export interface Append {
  readonly stepId: string
  /** The name of the step, with its position. */
  readonly step: string
  readonly name: string
  /** Number of the append within the pass, the step and the stream, from 1. */
  readonly seq: number
  /** Each is JSON text. */
  readonly chunks: readonly string[]
}

/** Sends the appends of one pass. */
export interface StreamOutlet {
  /** Maximum number of appends of one stream under way. */
  readonly appendsMax: number
  /**
   * Sends an append, and repeats it as often as necessary until `isOver`. Resolves when it is durable. Rejects with an {@link
   * AppendRefusedError}.
   */
  append(append: Append, isOver: () => boolean): Promise<void>
}

/** Returns the outlet of a pass; undefined if the runner cannot reach the engine. */
export type OutletOf = (ctx: InvokeContext) => StreamOutlet | undefined

/** The engine has refused an append. */
export class AppendRefusedError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Returns an append as JSON text. */
export function appendText({ stepId, step, name, seq, chunks }: Append): string {
  const head = `{"stepId":${JSON.stringify(stepId)},"step":${JSON.stringify(step)},"name":${JSON.stringify(name)}`
  return `${head},"seq":${seq},"chunks":[${chunks.join(',')}]}`
}
