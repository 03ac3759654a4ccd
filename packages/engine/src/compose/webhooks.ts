// Webhooks: the lane of deliveries and the sender that posts them, the resources that people configure, and posts of providers.

import { HttpSender } from '../adapters/sender/http-sender.ts'
import type { Config } from '../config/config.ts'
import type { Sender } from '../ports/sender.ts'
import type { Ingest } from '../services/event/ingest.ts'
import { LaneLoop } from '../services/support/lane.ts'
import { AcceptedPosts } from '../services/webhook/accepted-posts.ts'
import { DELIVERY_LEASE_MS, Deliverer } from '../services/webhook/deliver.ts'
import { EndpointTests } from '../services/webhook/endpoint-tests.ts'
import { Endpoints } from '../services/webhook/endpoints.ts'
import { Inbound } from '../services/webhook/inbound.ts'
import { Receivers } from '../services/webhook/receivers.ts'
import { Deliveries } from '../services/webhook/redeliver.ts'
import type { Vault } from '../services/webhook/vault.ts'
import { deliveryAttemptsOf, type EngineCore, laneDeps } from './core.ts'

export type WebhooksPart = ReturnType<typeof createWebhooks>

export function createWebhooks(
  config: Config,
  core: EngineCore,
  options: { vault: Vault; ingest: Ingest; sender: Sender | undefined; deliveriesMax: number },
) {
  const { clock, backends } = core
  const { webhookScheduleMs: scheduleMs, webhookAllowPrivate: allowPrivate, webhookAllow: allowList } = config
  const { vault, ingest, deliveriesMax } = options
  const sender: Sender = options.sender ?? new HttpSender({ clock, allowPrivate, allowList })
  const accepted = new AcceptedPosts(core)
  const onRoom = () => backends.queue.wake('deliveries', clock.now())
  const deliverer = new Deliverer({ ...core, sender, vault, scheduleMs, deliveriesMax, onRoom })
  return {
    sender,
    endpoints: new Endpoints({ ...core, vault }),
    endpointTests: new EndpointTests({ ...core, deliverer }),
    deliveries: new Deliveries({ ...core, attemptsMax: deliveryAttemptsOf(config) }),
    receivers: new Receivers({ ...core, vault }),
    accepted,
    inbound: new Inbound({ ...core, vault, ingest, accepted }),
    work: deliverer,
    lane: new LaneLoop({
      ...laneDeps(core),
      lane: 'deliveries',
      leaseMs: DELIVERY_LEASE_MS,
      work: deliverer,
      mayLeaveDueRows: () => true,
      claim: claim => deliverer.claim(claim),
    }),
  }
}
