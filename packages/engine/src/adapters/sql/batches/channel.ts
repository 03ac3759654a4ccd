// Carries batches to a writer or reader, wherever it runs. The batch queue sends one batch at a time.

import type { BatchAnswer, Request } from './requests.ts'

export interface Channel {
  /** Rejects only if the other side is gone. */
  run(batch: Request[]): Promise<BatchAnswer>
  close(): Promise<void>
}

/** A Writer or a Reader, which serves batches in its own thread. */
export interface Server {
  run(batch: readonly Request[]): BatchAnswer
  close(isBroken?: boolean): void
}

/** A channel to a server in the same thread, for databases in memory. */
export class InlineChannel implements Channel {
  readonly #server: Server

  constructor(server: Server) {
    this.#server = server
  }

  async run(batch: Request[]): Promise<BatchAnswer> {
    return this.#server.run(batch)
  }

  async close(): Promise<void> {
    this.#server.close()
  }
}
