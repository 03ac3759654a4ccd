// The URL of a callback, which the runner derives from two members of each invoke (docs/wire-protocol.md#callbacks). Called by the
// step tools and by the testing kit.

import { createHmac } from 'node:crypto'
import type { InvokeContext } from '@perdure/protocol'

/**
 * Returns the URL for the context of an invoke of the run and the hashed id of the step; undefined if the engine does not know
 * callbacks.
 */
export function callbackUrlOf(
  { callbackUrl, callbackKey }: Pick<InvokeContext, 'callbackUrl' | 'callbackKey'>,
  hashedId: string,
): string | undefined {
  if (callbackUrl === undefined || callbackKey === undefined) return undefined
  return `${callbackUrl}${hashedId}.${createHmac('sha256', callbackKey).update(hashedId).digest('hex')}`
}
