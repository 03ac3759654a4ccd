// The part of the Store port for administration: API keys and namespaces. The `perdure` command writes them, perhaps in another
// process than the engine's. An engine reads them when it starts and while it runs.

import type { Namespace, StoredKey } from '../domain/model/api-key.ts'

/** Each write is durable when it resolves. Unless its comment says otherwise, it raises the revision in the same commit. */
export interface Admin {
  /** Rises with every write below, so that a reader notices changes from one number. */
  revision(): Promise<number>

  /** Every key, revoked ones included, oldest first. */
  keys(): Promise<StoredKey[]>
  /** Stores the key, and its namespace if that is new. */
  addKey(key: StoredKey): Promise<void>
  /** The key after the call, or undefined if there is none. A revoked key keeps its time of revocation. */
  revokeKey(id: string, at: number): Promise<StoredKey | undefined>

  /**
   * Turns a code that is live at `now` into a session whose token has `hash`. Returns the session, or undefined if there is no
   * such code. If several calls have the same code, one succeeds.
   */
  redeemCode(
    codeHash: string,
    session: { hash: string; expiresAt: number },
    now: number,
  ): Promise<StoredKey | undefined>
  /** Deletes sessions and codes that expired before a time. */
  dropExpired(before: number): Promise<void>
  /** Stores when keys were last used. Does not raise the revision. */
  keysUsed(uses: readonly { id: string; at: number }[]): Promise<void>

  /** Every namespace by name. */
  namespaces(): Promise<Namespace[]>
  /** Stores those that are new. */
  addNamespaces(names: readonly string[], at: number): Promise<void>
  /** The namespace after the call, or undefined if there is none. A suspended namespace keeps its time of suspension. */
  suspend(name: string, at: number): Promise<Namespace | undefined>
  /** The namespace after the call, or undefined if there is none. */
  resume(name: string): Promise<Namespace | undefined>
}
