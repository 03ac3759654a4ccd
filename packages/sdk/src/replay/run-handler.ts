// Runs a workflow's handler inside its middleware, which may change the event and the result. Called by invoke.ts.

import type { MiddlewareChain } from '../middleware/chain.ts'
import type { PassEnd } from '../middleware/middleware.ts'
import type { Outcome } from '../pass/pass.ts'
import type { WorkflowEvent } from '../run/run-context.ts'
import { collects } from '../workflow/create-workflow.ts'
import type { Workflow, WorkflowArgs } from '../workflow/workflow.ts'

interface HandlerCall {
  readonly workflow: Workflow
  readonly chain: MiddlewareChain
  readonly args: WorkflowArgs
  /** The error of the failed run, if the on-failure handler is to run. */
  readonly error: Error | undefined
}

/** Returns the handler's result, as it is stored. Rejects with the error of the handler, its schema or a middleware. */
export function runHandler(call: HandlerCall): unknown {
  const { workflow, chain } = call
  const args = { ...call.args, event: eventIn(call) }
  if (!chain.touchesRuns) return handle(call, args)
  return chain
    .run({ ctx: args.ctx, event: args.event }, () => handle(call, args))
    .then(result => chain.output(result, { kind: 'result', name: workflow.name }))
}

/** Converts the outcome of a pass to the type that middleware receives. */
export function passEndOf(outcome: Outcome): PassEnd {
  if (outcome.kind === 'threw') return { kind: 'threw', error: outcome.error }
  return { kind: outcome.kind === 'opcodes' ? 'parked' : outcome.kind }
}

function eventIn({ workflow, chain, args: { event } }: HandlerCall): WorkflowEvent {
  if (!chain.changesInput) return event
  const place = { kind: 'event', name: event.name } as const
  const collected = collects(workflow.registration) && Array.isArray(event.data)
  const data = collected
    ? (event.data as unknown[]).map(payload => chain.input(payload, place))
    : chain.input(event.data, place)
  return { ...event, data }
}

/** An on-failure handler gets its event unvalidated, because invalid data may be the reason of the failure. */
function handle({ workflow, error }: HandlerCall, args: WorkflowArgs): unknown {
  if (error) return workflow.onFailure?.({ ...args, error })
  if (!workflow.parseEvent) return workflow.handler(args)
  return workflow.parseEvent(args.event).then(event => workflow.handler({ ...args, event }))
}
