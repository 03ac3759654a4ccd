// The tables of webhook endpoints and receivers. Secrets are stored as they come: sealed.

import type { Endpoint } from '../../../domain/model/endpoint.ts'
import type { Receiver } from '../../../domain/model/receiver.ts'
import { boolean, integer, json, optional, since, text, unique, unmapped } from '../description/column.ts'
import { table } from '../description/table.ts'

const SECRETS = { secret: text, oldSecrets: optional(json) }
const VERSIONED = { createdAt: integer, updatedAt: integer, version: integer }

export const ENDPOINTS = table<Endpoint>()('webhook_endpoints', {
  key: ['id'],
  fixed: {
    id: text,
    namespace: text,
    name: optional(text),
    app: optional(text),
    url: text,
    eventKinds: json,
    enabled: boolean,
    disabledReason: optional(text),
    ...SECRETS,
    ...VERSIONED,
  },
})

export const RECEIVERS = table<Receiver>()('webhook_receivers', {
  key: ['id'],
  fixed: {
    id: text,
    namespace: text,
    name: optional(text),
    app: optional(text),
    slug: unique(text),
    eventName: text,
    targetApp: optional(text),
    scheme: text,
    keepHeaders: optional(json),
    enabled: boolean,
    ...SECRETS,
    ...VERSIONED,
    // A dedicated statement writes it: it is not part of the catalog.
    lastAcceptedAt: unmapped(since(2, optional(integer))),
  },
})
