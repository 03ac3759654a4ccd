// Seals secrets under the current encryption key that are sealed under an older one, or stored without one. After one start
// with both keys the old key can be removed. Called by compose at every start, before anything else writes.

import type { Change } from '../../domain/model/change.ts'
import type { Secrets } from '../../domain/model/endpoint.ts'
import { oldSecretsAt, secretsAt } from '../../domain/webhook/secrets.ts'
import type { Store } from '../../ports/store.ts'
import type { Vault } from './vault.ts'

/**
 * Answers the changes it has committed, if any. Throws when a secret that still counts was sealed under a key that is
 * not among ours: a start that fails is better than webhooks that fail one by one.
 */
export async function reseal(store: Store, vault: Vault, now: number): Promise<Change[]> {
  const { endpoints, receivers } = await store.catalog()
  const changes: Change[] = []
  for (const endpoint of endpoints) {
    const secrets = resealed(endpoint, vault, now)
    if (secrets) changes.push({ type: 'endpoint.saved', endpoint: { ...endpoint, ...secrets } })
  }
  for (const receiver of receivers) {
    const secrets = resealed(receiver, vault, now)
    if (secrets) changes.push({ type: 'receiver.saved', receiver: { ...receiver, ...secrets } })
  }
  if (changes.length > 0) await store.commit({ guards: [], changes })
  return changes
}

/** The secrets that count, sealed under the current key; undefined when they are so already. */
function resealed(before: Secrets, vault: Vault, now: number): Secrets | undefined {
  const after = {
    secret: vault.reseal(before.secret),
    oldSecrets: oldSecretsAt(before, now).map(({ secret, until }) => ({
      secret: vault.reseal(secret),
      until,
    })),
  }
  const sealed = secretsAt(after, now)
  return secretsAt(before, now).every((secret, i) => secret === sealed[i]) ? undefined : after
}
