// The rows of API keys and namespaces, and the way there and back.

import type { KeyKind, Namespace, StoredKey } from '../../../domain/model/api-key.ts'
import type { Columns } from './columns.ts'
import type { Row } from './operations.ts'

type KeyRow = [
  id: string,
  namespace: string,
  label: string,
  kind: KeyKind,
  hash: string,
  createdAt: number,
  revokedAt: number | null,
]

export const KEY_COLUMNS: Columns<KeyRow> = [
  'id',
  'namespace',
  'label',
  'kind',
  'hash',
  'created_at',
  'revoked_at',
]

export function keyRow({ id, namespace, label, kind, hash, createdAt, revokedAt }: StoredKey): KeyRow {
  return [id, namespace, label, kind, hash, createdAt, revokedAt ?? null]
}

export function keyFromRow(row: Row): StoredKey {
  const [id, namespace, label, kind, hash, createdAt, revokedAt] = row as KeyRow
  return { id, namespace, label, kind, hash, createdAt, ...(revokedAt === null ? {} : { revokedAt }) }
}

type NamespaceRow = [name: string, createdAt: number, suspendedAt: number | null]

export const NAMESPACE_COLUMNS: Columns<NamespaceRow> = ['name', 'created_at', 'suspended_at']

export function namespaceRow({ name, createdAt, suspendedAt }: Namespace): NamespaceRow {
  return [name, createdAt, suspendedAt ?? null]
}

export function namespaceFromRow(row: Row): Namespace {
  const [name, createdAt, suspendedAt] = row as NamespaceRow
  return { name, createdAt, ...(suspendedAt === null ? {} : { suspendedAt }) }
}
