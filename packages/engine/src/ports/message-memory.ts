// The memory for large messages of runners: answers and checkpoints, from when they are received until their steps are stored.

/** A smaller message needs no permit: reading a few more of them costs less than a queue. */
export const SMALL_MESSAGE_BYTES_MAX = 64 * 1024

export interface MessageMemory {
  /**
   * Calls `onGranted` when the message may be read, at once if there is memory, with a function that gives it back. Messages are
   * granted in the order in which they came, one at a time at least.
   */
  request(bytes: number, onGranted: (release: () => void) => void): void
  /** Counts a message that was read already, until the returned function is called. */
  take(bytes: number): () => void
}
