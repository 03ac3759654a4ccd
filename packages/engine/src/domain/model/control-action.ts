// The audit entry of a control action (docs/http-api.md#controlaction).

import type { JsonText } from '../text/json-text.ts'

export type ControlKind = 'cancel' | 'pause' | 'resume' | 'replay' | 'retry_from_step' | 'bulk_replay'

export interface ControlAction {
  namespace: string
  id: string
  action: ControlKind
  runId?: string
  newRunId?: string
  /** Label of the API key behind the action. */
  actor?: string
  detail?: JsonText
  createdAt: number
}
