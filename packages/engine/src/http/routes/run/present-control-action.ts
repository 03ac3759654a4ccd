// Audit entries on the wire (contract §2.10).

import type { ControlAction as WireControlAction } from '@perdure/protocol'
import type { ControlAction } from '../../../domain/model/control-action.ts'
import { splice } from '../../../domain/text/json-splice.ts'
import type { JsonText } from '../../../domain/text/json-text.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'

export function controlActionText(entry: ControlAction): JsonText {
  const { id, action, runId, newRunId, actor, createdAt, detail } = entry
  const head: WireControlAction = { id, action, runId, newRunId, actor, createdAt: timestamp(createdAt) }
  return splice(head, { detail })
}
