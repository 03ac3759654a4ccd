// The audit entry of a control action (docs/http-api.md#controlaction).

import type { ControlAction as WireControlAction } from '@perdure/protocol'
import type { JsonText } from '../text/json-text.ts'

export type ControlKind = WireControlAction['action']

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
