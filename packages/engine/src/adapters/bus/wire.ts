// What carries words between engines: PostgreSQL or Redis. The bus puts topics and names on top.

export interface Wire {
  /**
   * Calls `onWord` with all that is said from now on to `name` or to everybody, the speaker's own words too; `onBack`
   * whenever words may have been missed.
   */
  listen(name: string, onWord: (word: string) => void, onBack: () => void): Promise<void>
  /** Says it to one listener, or to all. Never rejects: what cannot be said is lost. */
  say(word: string, to?: string): Promise<void>
  /** Present where the wire is a service of its own, whose loss people want to know of. */
  ping?(): Promise<void>
  close(): Promise<void>
}
