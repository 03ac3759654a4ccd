// The text of an invoke request (docs/wire-protocol.md#invoke). Used by invoke.ts.

import { knows } from '@perdure/protocol'
import { featuresOfInvoke } from '../../domain/model/features.ts'
import type { CollectedEvents, Run } from '../../domain/model/run.ts'
import type { Runner } from '../../domain/model/workflow.ts'
import { shownRunId } from '../../domain/text/ids.ts'
import { timestamp } from '../../domain/text/timestamp.ts'
import type { ActiveRun, Envelope } from './active-run.ts'
import type { OpenedPass } from './http-checkpoints.ts'

/** The features in which the envelopes of one run differ. */
export type Offer = Pick<Envelope, 'endWithSteps' | 'callbacks' | 'batchEvents'>

/** Whether two envelopes of one run are the same. */
export function isSameOffer(one: Offer, other: Offer): boolean {
  const { endWithSteps, callbacks, batchEvents } = other
  return one.endWithSteps === endWithSteps && one.callbacks === callbacks && one.batchEvents === batchEvents
}

/** The parts that all invoke requests of the run have in common. `urls` are members of its context. */
export function envelopeOf(run: Run, { urls, ...offer }: Offer & { urls?: object }): Envelope {
  const { id: runId, workflow, app, runner = '', trigger, input, failure } = run
  const id = trigger.id === undefined ? '' : `"id":${JSON.stringify(trigger.id)},`
  const data = input === undefined ? '' : `,"data":${input}`
  const follows = failure && { onFailure: true, error: failure }
  const ctx = JSON.stringify({ runId: shownRunId(runId), workflow, app, runner, ...urls, ...follows })
  const events = offer.batchEvents ? `,"events":${JSON.stringify(collectedEvents(run))}` : ''
  return {
    event: `{"event":{${id}"name":${JSON.stringify(trigger.name)}${data}${events}},"steps":`,
    ctx: `,"ctx":${ctx.slice(0, -1)},"features":${featuresOfInvoke(offer)}`,
    ...offer,
  }
}

/** The events that a batch collected, as the wire shows them: without their data, since the run has it. */
function collectedEvents({ collected, eventIds, trigger }: Run): { id: string; name: string; receivedAt: string }[] {
  const { names, receivedAt } = collected as CollectedEvents
  const ids = eventIds ?? [trigger.id as string]
  return receivedAt.map((at, index) => {
    const name = names.length === 1 ? names[0] : names[index]
    return { id: ids[index] as string, name: name as string, receivedAt: timestamp(at) }
  })
}

/** The parts of an invoke request that differ from pass to pass. */
interface InvokeBody {
  envelope: Envelope
  now: number
  traceparent: string
  invokeTimeoutMs: number | undefined
  opened: OpenedPass | undefined
  /** The run fails if its handler throws now. */
  lastTry: boolean
}

/** The invoke request. Its payloads are spliced in as the text they are stored in. */
export function invokeBody(
  active: ActiveRun,
  runner: Runner,
  { envelope: { event, ctx }, now, traceparent, invokeTimeoutMs, opened, lastTry }: InvokeBody,
): string {
  const { run } = active.state
  const memo = active.state.memo(now, { withOps: knows(runner.features, 'memo-op') })
  const hasAttempts = active.state.open.size > 0 && knows(runner.features, 'memo-attempt')
  const attempts = hasAttempts ? active.state.attempts(now) : ''
  const hasTurns = active.state.open.size > 0 && knows(runner.features, 'step-limits')
  const turns = hasTurns ? active.state.turns(now) : ''
  const timeout = invokeTimeoutMs === undefined ? '' : `,"invokeTimeoutMs":${invokeTimeoutMs}`
  const cleanup = active.followed === undefined ? '' : `,"cleanup":${active.followed}`
  const reporting = opened ? `,"checkpointToken":"${opened.token}","checkpointUrl":"${opened.url}"` : ''
  const inbox = run.inbox === undefined ? '' : ',"inbox":true'
  const last = lastTry ? ',"lastTry":true' : ''
  return `${event}${memo}${ctx},"attempt":${run.attempt}${last},"traceparent":"${traceparent}"${timeout}${attempts}${turns}${inbox}${reporting}${cleanup}}}`
}
