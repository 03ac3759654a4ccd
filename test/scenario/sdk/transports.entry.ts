// Runners of the SDK on every transport, for scenarios that must hold on each: HTTP, HTTP with checkpoints, Connect.

import type { HandlerOptions } from '@perdure/sdk'
import { connect } from '@perdure/sdk/connect'
import { serve } from '@perdure/sdk/node'
import { onCleanup } from '../../kit/index.ts'

export const TRANSPORTS = ['HTTP', 'HTTP with checkpoints', 'Connect'] as const

/** Serves workflows of an app until the test ends. */
export async function serveOver(
  transport: (typeof TRANSPORTS)[number],
  options: { app: string; workflows: HandlerOptions['workflows']; engineUrl: string; log?: HandlerOptions['log'] },
): Promise<void> {
  const quiet = { log: () => {}, ...options, signingKey: [], handleSignals: false }
  const runner =
    transport === 'Connect'
      ? connect(quiet)
      : await serve({ ...quiet, port: 0, checkpoints: transport === 'HTTP with checkpoints' })
  onCleanup(() => runner.close())
  await runner.ready
}
