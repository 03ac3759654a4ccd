// The tables of API keys and namespaces, and the number that rises with every write to them.

import type { Namespace, StoredKey } from '../../../domain/model/api-key.ts'
import { flag, integer, optional, text, unique } from '../description/column.ts'
import { table } from '../description/table.ts'

export const API_KEYS = table<StoredKey>()('api_keys', {
  fixed: {
    id: unique(text),
    namespace: text,
    label: text,
    kind: text,
    hash: unique(text),
    createdAt: integer,
    revokedAt: optional(integer),
    parentHash: optional(text),
    expiresAt: optional(integer),
    isCode: flag,
    lastUsedAt: optional(integer),
  },
})

export const NAMESPACES = table<Namespace>()('namespaces', {
  fixed: { name: unique(text), createdAt: integer, suspendedAt: optional(integer) },
})

export const ADMIN_REVISION = table<{ revision: number }>()('admin_revision', {
  only: { sqlite: '0', postgres: '0' },
  fixed: { revision: integer },
})
