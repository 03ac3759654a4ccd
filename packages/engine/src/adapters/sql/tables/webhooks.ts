// The rows of webhook endpoints and receivers, and the way there and back. Secrets are stored as they come: sealed.

import type { Endpoint, NoticeKind, OldSecret, Secrets } from '../../../domain/model/endpoint.ts'
import type { Receiver, ReceiverScheme } from '../../../domain/model/receiver.ts'
import type { Columns } from './columns.ts'
import type { Row } from './operations.ts'

type SecretColumns = [secret: string, previousSecret: string | null, previousUntil: number | null]
type Stamps = [createdAt: number, updatedAt: number, version: number]

type EndpointRow = [
  id: string,
  namespace: string,
  name: string | null,
  app: string | null,
  url: string,
  eventKinds: string,
  enabled: number,
  disabledReason: string | null,
  ...SecretColumns,
  ...Stamps,
]

export const ENDPOINT_COLUMNS: Columns<EndpointRow> = [
  'id',
  'namespace',
  'name',
  'app',
  'url',
  'event_kinds',
  'enabled',
  'disabled_reason',
  'secret',
  'previous_secret',
  'previous_until',
  'created_at',
  'updated_at',
  'version',
]

export function endpointRow(endpoint: Endpoint): EndpointRow {
  const { id, namespace, name, app, url, eventKinds, enabled, disabledReason } = endpoint
  const about = [name ?? null, app ?? null, url, JSON.stringify(eventKinds)] as const
  const state = [enabled ? 1 : 0, disabledReason ?? null] as const
  return [id, namespace, ...about, ...state, ...secretColumns(endpoint), ...stamps(endpoint)]
}

export function endpointFromRow(row: Row): Endpoint {
  const [id, namespace, name, app, url, kinds, enabled, reason, ...rest] = row as EndpointRow
  const [secret, previousSecret, previousUntil, createdAt, updatedAt, version] = rest
  return {
    id,
    namespace,
    url,
    eventKinds: JSON.parse(kinds) as NoticeKind[],
    enabled: enabled === 1,
    ...present({ name, app, disabledReason: reason }),
    ...secrets([secret, previousSecret, previousUntil]),
    createdAt,
    updatedAt,
    version,
  }
}

type ReceiverRow = [
  id: string,
  namespace: string,
  name: string | null,
  app: string | null,
  slug: string,
  eventName: string,
  targetApp: string | null,
  scheme: ReceiverScheme,
  enabled: number,
  ...SecretColumns,
  ...Stamps,
]

export const RECEIVER_COLUMNS: Columns<ReceiverRow> = [
  'id',
  'namespace',
  'name',
  'app',
  'slug',
  'event_name',
  'target_app',
  'scheme',
  'enabled',
  'secret',
  'previous_secret',
  'previous_until',
  'created_at',
  'updated_at',
  'version',
]

export function receiverRow(receiver: Receiver): ReceiverRow {
  const { id, namespace, name, app, slug, eventName, targetApp, scheme, enabled } = receiver
  const about = [name ?? null, app ?? null, slug, eventName, targetApp ?? null, scheme] as const
  return [id, namespace, ...about, enabled ? 1 : 0, ...secretColumns(receiver), ...stamps(receiver)]
}

export function receiverFromRow(row: Row): Receiver {
  const [id, namespace, name, app, slug, eventName, targetApp, scheme, enabled, ...rest] = row as ReceiverRow
  const [secret, previousSecret, previousUntil, createdAt, updatedAt, version] = rest
  return {
    id,
    namespace,
    slug,
    eventName,
    scheme,
    enabled: enabled === 1,
    ...present({ name, app, targetApp }),
    ...secrets([secret, previousSecret, previousUntil]),
    createdAt,
    updatedAt,
    version,
  }
}

/** One old secret stands as it is; several are a list, which no sealed secret looks like. */
function secretColumns({ secret, oldSecrets = [] }: Secrets): SecretColumns {
  const [newest, ...older] = oldSecrets
  if (!newest) return [secret, null, null]
  return [secret, older.length === 0 ? newest.secret : JSON.stringify(oldSecrets), newest.until]
}

function secrets([secret, old, until]: SecretColumns): Secrets {
  if (old === null || until === null) return { secret }
  const oldSecrets = old.startsWith('[') ? (JSON.parse(old) as OldSecret[]) : [{ secret: old, until }]
  return { secret, oldSecrets }
}

function stamps({ createdAt, updatedAt, version }: Endpoint | Receiver): Stamps {
  return [createdAt, updatedAt, version]
}

/** The members that are not null: absent means absent. */
function present<Name extends string>(members: Record<Name, string | null>): { [K in Name]?: string } {
  const kept = Object.entries(members).filter(([, value]) => value !== null)
  return Object.fromEntries(kept) as { [K in Name]?: string }
}
