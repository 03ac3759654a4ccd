// Seals secrets under the current encryption key that are sealed under an older one, or stored without one. The store records
// that this was done. After that an unsealed secret is refused, because only an outsider can have written it. After one start
// with both keys the old key can be removed. Called by compose at every start, before anything else writes.

import type { Change } from '../../domain/model/change.ts'
import type { Secrets, Versioned } from '../../domain/model/endpoint.ts'
import { oldSecretsAt, secretsAt } from '../../domain/webhook/secrets.ts'
import type { Store } from '../../ports/store.ts'
import { type SecretOwner, unsealed, type Vault } from './vault.ts'

/**
 * Returns the changes it has committed, if any. Throws when a secret that still counts was sealed under a key that is not among
 * ours: a start that fails is better than webhooks that fail one by one.
 */
export async function reseal(store: Store, vault: Vault, now: number): Promise<Change[]> {
  const { endpoints, receivers } = await store.catalog()
  const changes: Change[] = []
  const rows = [...endpoints, ...receivers]
  const wasSealed = await store.areSecretsSealed()
  const isSealed =
    vault.hasKey && (wasSealed || rows.some(row => secretsAt(row, now).some(secret => vault.isBound(secret))))
  for (const endpoint of endpoints) {
    const secrets = resealed(endpoint, { kind: 'endpoint', vault, now, isSealed })
    if (secrets) changes.push({ type: 'endpoint.saved', endpoint: { ...endpoint, ...secrets } })
  }
  for (const receiver of receivers) {
    const secrets = resealed(receiver, { kind: 'receiver', vault, now, isSealed })
    if (secrets) changes.push({ type: 'receiver.saved', receiver: { ...receiver, ...secrets } })
  }
  if (wasSealed !== vault.hasKey) changes.push({ type: 'secrets.sealed', isSealed: vault.hasKey })
  if (changes.length > 0) await store.commit({ guards: [], changes })
  return changes
}

interface Resealing {
  kind: SecretOwner['kind']
  vault: Vault
  now: number
  /** The secrets of the store have been sealed, so all of them must be. */
  isSealed: boolean
}

/** The secrets that count, sealed under the current key; undefined when they already are. */
function resealed(before: Versioned, { kind, vault, now, isSealed }: Resealing): Secrets | undefined {
  const owner = { kind, namespace: before.namespace, id: before.id }
  const stored = secretsAt(before, now)
  if (isSealed && !stored.every(secret => vault.isBound(secret))) throw new Error(unsealed(owner))
  const after = {
    secret: vault.reseal(before.secret, owner),
    oldSecrets: oldSecretsAt(before, now).map(({ secret, until }) => ({ secret: vault.reseal(secret, owner), until })),
  }
  const sealed = secretsAt(after, now)
  return stored.every((secret, i) => secret === sealed[i]) ? undefined : after
}
