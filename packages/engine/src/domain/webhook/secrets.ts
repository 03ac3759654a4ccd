// The signing secrets of webhook endpoints and receivers (docs/webhooks.md#secrets): which of them count at a given time, and
// how an edit changes them.

import { isMalformedWebhookSecret, WEBHOOK_SECRET_PREFIX, webhookKeyOf } from '@perdure/protocol'
import {
  OLD_SECRETS_MAX,
  type OldSecret,
  SECRET_BYTES_MIN,
  SECRET_OVERLAP_MS,
  type SealedSecret,
  type Secrets,
} from '../model/endpoint.ts'
import { EngineError } from '../model/errors.ts'

/** The sealed secrets that count at `now`, the current one first. */
export function secretsAt(secrets: Secrets, now: number): SealedSecret[] {
  return [secrets.secret, ...oldSecretsAt(secrets, now).map(({ secret }) => secret)]
}

/** The replaced secrets that still count at `now`, newest first. */
export function oldSecretsAt({ oldSecrets = [] }: Secrets, now: number): readonly OldSecret[] {
  return oldSecrets.filter(({ until }) => now < until)
}

/** Until when replaced secrets count in addition to the current one; undefined if only the current one counts. */
export function oldSecretsUntil(secrets: Secrets, now: number): number | undefined {
  const old = oldSecretsAt(secrets, now)
  return old.length === 0 ? undefined : Math.max(...old.map(({ until }) => until))
}

/**
 * The secrets after an edit, with `made` as the current one if given. Throws `conflict` if more old secrets would count than
 * allowed: ending the oldest one silently would cut off a sender that still signs with it.
 */
export function editedSecrets(
  before: Secrets,
  edit: { made: SealedSecret | undefined; revokeOldSecrets: boolean; now: number },
): Secrets {
  const { made, revokeOldSecrets, now } = edit
  const kept = revokeOldSecrets ? [] : oldSecretsAt(before, now)
  if (made === undefined) return { secret: before.secret, oldSecrets: kept }
  if (revokeOldSecrets) return { secret: made, oldSecrets: [] }
  if (kept.length >= OLD_SECRETS_MAX)
    throw new EngineError(
      'conflict',
      `${OLD_SECRETS_MAX} old secrets are still valid, for ${SECRET_OVERLAP_MS / 3_600_000} hours after each was replaced; revokeOldSecrets revokes them`,
    )
  return { secret: made, oldSecrets: [{ secret: before.secret, until: now + SECRET_OVERLAP_MS }, ...kept] }
}

/** Describes the problem with a secret that a caller provides; undefined if there is none. */
export function broughtSecretFault(secret: string): string | undefined {
  if (!isMalformedWebhookSecret(secret) && webhookKeyOf(secret).length >= SECRET_BYTES_MIN) return undefined
  return `must be ${WEBHOOK_SECRET_PREFIX} and the base64 of at least ${SECRET_BYTES_MIN} bytes, or at least ${SECRET_BYTES_MIN} bytes of text that is not base64`
}
