// Names the limiter's counters.

import { createHash } from 'node:crypto'

/** Unique per namespace, app, workflow, policy and key, and of fixed length. */
export function limiterKey(of: {
  namespace: string
  app: string
  workflow: string
  policy: 'rateLimit' | 'throttle'
  key: string
}): string {
  const { namespace, app, workflow, policy, key } = of
  return createHash('sha256')
    .update(JSON.stringify([namespace, app, workflow, policy, key]))
    .digest('base64url')
}
