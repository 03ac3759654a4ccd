// Reads the running steps of a checkpoint (docs/wire-protocol.md#running-steps). They are only shown, so an unreadable one is
// left out. Called by outcome.ts.

import { RUNNING_STEPS_MAX } from '@perdure/protocol'
import { RunningStepSchema } from '@perdure/protocol/schema'
import { compiledOnce } from '../../text/schema/compiled-schema.ts'

/** A step whose callback began `startedMs` before the message was sent. */
export interface ReportedRunning {
  id: string
  name: string
  startedMs: number
}

const wellFormed = compiledOnce(RunningStepSchema)

/** Returns undefined if the message has no list of running steps. */
export function readRunning(parsed: object | undefined): ReportedRunning[] | undefined {
  const { running } = (parsed ?? {}) as { running?: unknown }
  if (!Array.isArray(running)) return undefined
  const read = running.slice(0, RUNNING_STEPS_MAX).filter(one => wellFormed().Check(one)) as ReportedRunning[]
  return read.map(({ id, name, startedMs }) => ({ id, name, startedMs }))
}
