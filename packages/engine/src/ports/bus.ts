// The Bus port: messages between engines that share a store. Any message may be lost, so nothing relies on it alone: data that
// must not be lost is in the store, or is requested again.

export interface Bus {
  /** This engine's name on the bus. */
  readonly self: string
  /** Calls `handle` with every message of the topic from other engines, in the order in which each sender sent them. */
  on(topic: string, handle: (text: string, from: string) => void): void
  /** Calls `fn` whenever messages may have been missed. */
  onReconnect(fn: () => void): void
  /** Sends a message to the engine `to`, or to all others. A message to all may have at most BROADCAST_BYTES_MAX. */
  publish(topic: string, text: string, to?: string): void
  /** Present only where a separate network service carries the messages: readiness checks it. */
  ping?(): Promise<void>
  close(): Promise<void>
}

/** Maximum bytes of one message to all engines. */
export const BROADCAST_BYTES_MAX = 7000

/** Splits the parts of a message to all engines into batches, each as large as one message may be. */
export function* broadcastBatches(parts: Iterable<string>): Generator<string[]> {
  let batch: string[] = []
  let bytes = 0
  for (const part of parts) {
    const length = Buffer.byteLength(JSON.stringify(part)) + 1
    if (bytes + length > BROADCAST_BYTES_MAX && batch.length > 0) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(part)
    bytes += length
  }
  if (batch.length > 0) yield batch
}
