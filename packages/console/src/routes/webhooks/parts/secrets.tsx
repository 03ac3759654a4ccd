// A secret that was just created, and until when the previous ones stay valid.

import { useNow } from '../../../data/time/clock.ts'
import { agoText, clockText, exactTime } from '../../../ui/time.ts'

/** The part of a reply that created a secret. */
export interface NewSecret {
  secret: string
  oldSecretsUntil?: string
}

export const hasSecret = (reply: object): reply is NewSecret => (reply as { secret?: unknown }).secret !== undefined

/** Where the secret belongs and, after a rotation, until when `overlap` applies. */
export function SecretUse({ of: { oldSecretsUntil }, use, overlap }: { of: NewSecret; use: string; overlap: string }) {
  return (
    <>
      {use}{' '}
      {oldSecretsUntil !== undefined && (
        <>
          {overlap} until <Until at={oldSecretsUntil} />.
        </>
      )}
    </>
  )
}

/** The secrets of an endpoint or a receiver: one, or `overlap` until the replaced ones end. */
export function SecretsInUse({ oldUntil, overlap }: { oldUntil: string | undefined; overlap: string }) {
  const now = useNow()
  if (oldUntil === undefined || Date.parse(oldUntil) <= now) return 'one'
  return (
    <>
      {overlap} until <Until at={oldUntil} />
    </>
  )
}

/** A future time, as a time of day. */
function Until({ at }: { at: string }) {
  const now = useNow()
  const ms = Date.parse(at)
  return (
    <time dateTime={at} title={exactTime(ms)}>
      {clockText(ms, now)}, {agoText(ms, now)}
    </time>
  )
}
