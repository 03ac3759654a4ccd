// The token of a run that a command started. Used by `perdure events send` and `perdure workflows start`.

import type { SendEventReply } from '@perdure/protocol'
import { withAge } from './time.ts'

/** The help of `--token`. */
export const TOKEN_TEXT =
  'create a token that reads the started run, valid for 1s to 24h; only if exactly one run starts'

/** The lines for the token, if one was requested. */
export function tokenLines({ token, tokenExpiresAt }: Pick<SendEventReply, 'token' | 'tokenExpiresAt'>): string[] {
  return token === undefined || tokenExpiresAt === undefined ? [] : [token, `until ${withAge(tokenExpiresAt)}`]
}
