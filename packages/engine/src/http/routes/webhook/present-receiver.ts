// Webhook receivers on the wire (contract §2.9). Names every field: a secret cannot slip out of a read.

import type { WebhookReceiver } from '@perdure/protocol'
import type { Receiver } from '../../../domain/model/receiver.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'

export function presentReceiver(receiver: Receiver): WebhookReceiver {
  return {
    id: receiver.id,
    name: receiver.name,
    app: receiver.app,
    slug: receiver.slug,
    eventName: receiver.eventName,
    targetApp: receiver.targetApp,
    scheme: receiver.scheme,
    enabled: receiver.enabled,
    createdAt: timestamp(receiver.createdAt),
    updatedAt: timestamp(receiver.updatedAt),
  }
}
