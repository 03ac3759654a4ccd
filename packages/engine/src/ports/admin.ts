// The part of the Store port that people administer: API keys and namespaces. Written by the `perdure` command, also
// from another process than the engine's; read by an engine when it starts and while it runs.

import type { Namespace, StoredKey } from '../domain/model/api-key.ts'

/** Each write is durable when it resolves, and raises the revision in the same commit. */
export interface Admin {
  /** Rises with every write below, so that whoever follows them reads one number. */
  revision(): Promise<number>

  /** Every key, oldest first; those that were revoked too. */
  keys(): Promise<StoredKey[]>
  /** Keeps the key, and its namespace if that is new. */
  addKey(key: StoredKey): Promise<void>
  /** The key as it is afterwards, or undefined when there is none. Once revoked, a key keeps that time. */
  revokeKey(id: string, at: number): Promise<StoredKey | undefined>

  /** Every namespace by name. */
  namespaces(): Promise<Namespace[]>
  /** Keeps those that are new. */
  addNamespaces(names: readonly string[], at: number): Promise<void>
  /** The namespace as it is afterwards, or undefined when there is none. Once suspended, it keeps that time. */
  suspend(name: string, at: number): Promise<Namespace | undefined>
  /** The namespace as it is afterwards, or undefined when there is none. */
  resume(name: string): Promise<Namespace | undefined>
}
