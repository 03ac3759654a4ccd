// The memory for large messages from runners, answers and checkpoints: from their receipt until their steps are stored.

/** A smaller message needs no permit: reading a few more of these costs less than a queue. */
export const SMALL_MESSAGE_BYTES_MAX = 64 * 1024

export interface MessageMemory {
  /**
   * Calls `onGranted` when the message may be read, at once if there is memory, with a function that gives the memory back.
   * Messages are granted in the order of their arrival, and at least one at a time.
   */
  request(bytes: number, onGranted: (release: () => void) => void): void
  /** Counts a message that was already read, until the returned function is called. */
  take(bytes: number): () => void
}
