// Operations of webhooks: outbound endpoints and deliveries, inbound receivers. The engine's webhook routes import this
// entry.

export * from './webhook-deliveries.ts'
export * from './webhook-endpoints.ts'
export * from './webhook-receivers.ts'
