// `perdure webhooks`: endpoints and their deliveries, receivers, and a local listener for development.

import type { Command } from 'commander'
import { group } from '../../command-line/commands.ts'
import { deliveriesCommands } from './deliveries.ts'
import { endpointsCommands } from './endpoints.ts'
import { listenCommand } from './listen.ts'
import { receiversCommands } from './receivers.ts'

/** Adds `perdure webhooks` to the program. */
export function webhooksCommands(program: Command): void {
  const webhooks = group(program, 'webhooks', {
    description: 'manage endpoints that get webhooks about runs, and receivers whose posts become events',
    examples: [
      'perdure webhooks endpoints create https://alerts.example.com/hook --event-kinds run.failed',
      'perdure webhooks deliveries list --status exhausted',
      'perdure webhooks receivers create payment/received --slug payments',
      'perdure webhooks listen',
    ],
  })
  endpointsCommands(webhooks)
  deliveriesCommands(webhooks)
  receiversCommands(webhooks)
  listenCommand(webhooks)
}
