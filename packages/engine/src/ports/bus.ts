// The Bus port: how engines on one store talk to each other. Whatever is said may be lost, so nothing rests on it alone:
// what must not be lost is in the store, or is asked for again.

export interface Bus {
  /** This engine's name on the bus. */
  readonly self: string
  /** Calls `hear` with all that the other engines say of the topic from now on, in each one's order. */
  on(topic: string, hear: (text: string, from: string) => void): void
  /** Calls `fn` whenever words may have been missed. */
  onReconnect(fn: () => void): void
  /** Says it to one engine, or to all others. To all only a few thousand bytes may be said. */
  publish(topic: string, text: string, to?: string): void
  /** Present only where a network service of its own stands behind it (contract §4.7). */
  ping?(): Promise<void>
  close(): Promise<void>
}

/** Most bytes that may be said to everybody at once. */
export const BROADCAST_BYTES_MAX = 7000

/** The parts of what is said to everybody, as many together as may be said at once. */
export function* broadcastBatches(parts: Iterable<string>): Generator<string[]> {
  let some: string[] = []
  let bytes = 0
  for (const part of parts) {
    const length = Buffer.byteLength(JSON.stringify(part)) + 1
    if (bytes + length > BROADCAST_BYTES_MAX && some.length > 0) {
      yield some
      some = []
      bytes = 0
    }
    some.push(part)
    bytes += length
  }
  if (some.length > 0) yield some
}
