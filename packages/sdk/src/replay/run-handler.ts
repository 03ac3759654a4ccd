// Calls the code that a pass runs, inside its middleware: the handler of the workflow, with its event validated, the on-failure
// handler, or the cleanup after another run. Called by invoke.ts and clean-up-run.ts.

import { NonRetriableError } from '@perdure/client'
import { knows } from '@perdure/protocol'
import { Continuation } from '../pass/outcome.ts'
import type { BatchEvent, ReceivedEvent, RunContext, WorkflowEvent } from '../run/run-context.ts'
import type { RunFailure } from '../wire/errors.ts'
import { collects } from '../workflow/create-workflow.ts'
import type { Workflow, WorkflowArgs } from '../workflow/workflow.ts'
import type { PassEnvironment } from './run-step.ts'
import { createStepTools } from './tools.ts'

export interface HandlerCall {
  readonly workflow: Workflow
  readonly environment: PassEnvironment
  /** As the engine sent it. */
  readonly event: WorkflowEvent
  readonly runContext: RunContext
  /** The error of the failed run, if the pass is for the on-failure handler. */
  readonly error?: RunFailure | undefined
  /** Cleans up after the run that this run follows, instead of the handler. */
  readonly cleanUp?: ((args: WorkflowArgs) => unknown) | undefined
}

/** Returns the handler's result in the form that is stored. Rejects with the error of the handler, its schema or a middleware. */
export function runHandler(call: HandlerCall): unknown {
  const { workflow, environment, runContext } = call
  const chain = environment.middleware
  const args = { event: eventIn(call), step: createStepTools(environment, runContext), ctx: runContext }
  environment.run.args = args
  if (!chain.touchesRuns) return handle(call, args)
  return chain
    .run({ ctx: args.ctx, event: args.event }, () => handleInPass(call, args))
    .then(result =>
      result instanceof Continuation ? result : chain.output(result, { kind: 'result', name: workflow.name }),
    )
}

/** Never settles for middleware if the handler throws and the pass parks: the pass that ends with the error throws it again. */
async function handleInPass(call: HandlerCall, args: WorkflowArgs): Promise<unknown> {
  try {
    return await handle(call, args)
  } catch (error) {
    if (call.environment.pass.parksOn(error)) return new Promise(() => {})
    throw error
  }
}

function eventIn(call: HandlerCall): WorkflowEvent {
  const { workflow, environment, event } = call
  const chain = environment.middleware
  const collected = collects(workflow.registration) && Array.isArray(event.data)
  const place = { kind: 'event', name: event.name } as const
  const input = (payload: unknown) => (chain.changesInput ? chain.input(payload, place) : payload)
  if (!collected) return chain.changesInput ? { ...event, data: input(event.data) } : event
  const data = (event.data as unknown[]).map(input)
  return tellsEvents(call) ? withEvents({ ...event, data }) : { ...event, data }
}

/** Whether the handler gets the events of a list: an engine without the feature does not send them. */
function tellsEvents({ workflow, environment }: HandlerCall): boolean {
  return collects(workflow.registration) && knows(environment.ctx.features, 'batch-events')
}

/** Passes an on-failure handler its event unvalidated, because invalid data may have caused the failure. */
function handle(call: HandlerCall, args: WorkflowArgs): unknown {
  const { workflow, error, cleanUp, environment } = call
  if (error) return workflow.onFailure?.({ ...args, error })
  if (cleanUp) return cleanUp(args)
  if (workflow.onCancel && !knows(environment.ctx.features, 'cleanup'))
    throw new NonRetriableError(`Workflow "${workflow.name}": this engine does not support onCancel (cleanup)`)
  if (!workflow.parseEvent) return workflow.handler(args)
  return workflow.parseEvent(args.event).then(validated => {
    const event = tellsEvents(call) ? withValidated(validated, args.event) : validated
    const parsed = { ...args, event }
    environment.run.args = parsed
    return workflow.handler(parsed)
  })
}

/** An event of a batch in the form that the engine sends: its payload is in the list. */
type SentEvent = Omit<ReceivedEvent, 'data'>

/** Returns the event with `events`, each with its payload from the list. A schedule's event stays as it is. */
function withEvents(event: WorkflowEvent & { readonly events?: readonly SentEvent[] }): WorkflowEvent {
  const { data, events = [] } = event
  if (!Array.isArray(data)) return event
  const zipped: BatchEvent = { ...event, data, events: events.map((one, index) => ({ ...one, data: data[index] })) }
  return zipped
}

/** Returns the validated event. Its events get the validated payloads, unless a schema has changed the list. */
function withValidated(event: WorkflowEvent, before: WorkflowEvent): WorkflowEvent {
  const isSameList = Array.isArray(event.data) && Array.isArray(before.data) && event.data.length === before.data.length
  return isSameList ? withEvents(event) : event
}
