// What runs batches of requests, wherever it runs them. The batch queue posts to a channel, one batch at a time.

import type { BatchAnswer, Request } from './requests.ts'

export interface Channel {
  /** Rejects only when the other side is gone. */
  run(batch: Request[]): Promise<BatchAnswer>
  close(): Promise<void>
}

/** Something that serves batches in its own thread: a Writer or a Reader. */
export interface Server {
  run(batch: readonly Request[]): BatchAnswer
  close(): void
}

/** A channel to a server in this very thread, for databases in memory. */
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
