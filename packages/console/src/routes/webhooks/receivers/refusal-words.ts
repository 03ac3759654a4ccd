// The reasons for refused posts as text, each with a remedy.

import type { Calls } from '@perdure/client'

type Refusal = Calls['listWebhookRefusals']['reply'][number]

const WORDS: Readonly<Record<Refusal['reason'], string>> = {
  unsigned: 'no signature: the provider does not sign, or a proxy removes the headers',
  other_scheme: 'signed with another scheme',
  wrong_signature: 'wrong signature: the secrets differ, or a proxy changes the body',
  stale: 'stale',
  too_large: 'more than 1 MiB',
  encoded: 'a compressed body',
  invalid_body: 'the signature is right, but the body cannot be an event',
  disabled: 'the receiver is disabled',
}

export function reasonText({ reason, offSeconds, signedAs }: Refusal): string {
  if (offSeconds !== undefined) {
    return offSeconds < 0
      ? `ahead of the engine's clock by ${-offSeconds} s: one of the clocks is wrong`
      : `stale by ${offSeconds} s: the request was delayed, or a clock is wrong`
  }
  return signedAs === undefined ? WORDS[reason] : `signed as ${signedAs}, which is not this receiver's scheme`
}
