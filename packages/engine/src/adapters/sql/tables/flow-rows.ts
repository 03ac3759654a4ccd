// The rows of flow control, and the way there and back.

import type { FlowPolicy, FlowRow } from '../../../domain/model/flow-row.ts'
import type { Columns } from './columns.ts'
import type { Row } from './operations.ts'

type FlowColumns = [
  id: string,
  namespace: string,
  app: string,
  workflow: string,
  policy: FlowPolicy,
  key: string,
  version: number,
  availableAt: number | null,
  leaseOwner: string | null,
  expiresAt: number | null,
  state: string,
]

export const FLOW_COLUMNS: Columns<FlowColumns> = [
  'id',
  'namespace',
  'app',
  'workflow',
  'policy',
  'key',
  'version',
  'available_at',
  'lease_owner',
  'expires_at',
  'state',
]

export function flowRow(row: FlowRow): FlowColumns {
  const { id, namespace, app, workflow, policy, key, version, availableAt, leaseOwner, expiresAt, state } =
    row
  const of = [id, namespace, app, workflow, policy, key, version] as const
  return [...of, availableAt ?? null, leaseOwner ?? null, expiresAt ?? null, state]
}

export function flowFromRow(row: Row): FlowRow {
  const [id, namespace, app, workflow, policy, key, version, availableAt, leaseOwner, expiresAt, state] =
    row as FlowColumns
  return {
    id,
    namespace,
    app,
    workflow,
    policy,
    key,
    version,
    state,
    ...(availableAt === null ? {} : { availableAt }),
    ...(leaseOwner === null ? {} : { leaseOwner }),
    ...(expiresAt === null ? {} : { expiresAt }),
  }
}
