// The audit entry of a control action (docs/http-api/run-control.md#controlaction).

import type { ControlAction as WireControlAction } from '@perdure/protocol'
import type { JsonText } from '../text/json-text.ts'

export type ControlKind = WireControlAction['action']

export interface ControlAction extends Omit<WireControlAction, 'detail' | 'createdAt'> {
  namespace: string
  detail?: JsonText
  createdAt: number
}
