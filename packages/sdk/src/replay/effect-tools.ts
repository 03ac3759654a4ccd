// Steps with effects outside of their run: `step.startRun`, `step.cancelRun` (docs/steps.md#starting-runs) and `step.emit`, of one event or
// a list (docs/steps.md#stepemit-ctxwebhooksend). Called by the step tools.

import type { EventDefinition } from '@perdure/client'
import { asReceived, eventNameOf, isEventDefinition, validateSync } from '@perdure/client/internal'
import { EVENTS_PER_STEP_MAX, IF_RUNNING, KEY_CHARS_MAX, knows } from '@perdure/protocol'
import { encodeOpcode } from '../pass/opcode.ts'
import { attributesProblem } from '../run/run-report.ts'
import { badCall, boundedText, durationMs, exactEvent, nonBlank, timeMs } from '../run/step-arguments.ts'
import type {
  EmitEventOptions,
  EmittedEvents,
  RunWorkflowOptions,
  StartedRun,
  StartRunOptions,
} from '../workflow/workflow.ts'
import { type PassEnvironment, payloadText } from './run-step.ts'
import { checkStepOptions } from './step-options.ts'

export type StartOptions = StartRunOptions & { workflow: string | { name: string }; data?: unknown }
export interface CancelOptions {
  runId: string
}

/** @throws NonRetriableError for bad arguments, or if the engine does not know the step. */
export function startRun(environment: PassEnvironment, name: string, options: StartOptions): Promise<StartedRun> {
  const { pass } = environment
  const started = pass.step(name, 'StartRun', id => {
    checkFeature(environment, name, 'start')
    checkStepOptions(name, 'startRun', options)
    const text = payloadText(environment, options.data, { kind: 'child', name })
    return encodeOpcode('StartRun', id, startFields(name, options), { field: 'data', text })
  })
  return started.mapped(data => data as StartedRun)
}

/** @throws NonRetriableError for bad arguments, or if the engine does not know the step. */
export function cancelRun(environment: PassEnvironment, name: string, options: CancelOptions): Promise<void> {
  const cancelled = environment.pass.step(name, 'CancelRun', id => {
    checkFeature(environment, name, 'cancel')
    checkStepOptions(name, 'cancelRun', options)
    return encodeOpcode('CancelRun', id, { runId: boundedText(name, 'runId', options.runId) })
  })
  return cancelled.mapped(() => undefined)
}

/** @throws NonRetriableError if a child has options that the engine does not know. */
export function checkChildFeature(
  environment: PassEnvironment,
  name: string,
  options: Partial<RunWorkflowOptions>,
): void {
  if (options.timeout !== undefined || options.priority !== undefined)
    checkFeature(environment, name, 'set a timeout or a priority for child')
}

function checkFeature({ ctx }: PassEnvironment, name: string, what: string): void {
  if (!knows(ctx.features, 'start-run')) throw badCall(name, `this engine cannot ${what} runs (start-run)`)
}

function startFields(name: string, options: StartOptions) {
  const { workflow, key, ifRunning } = options
  if (key !== undefined) boundedText(name, 'key', key, KEY_CHARS_MAX)
  if (ifRunning !== undefined && !IF_RUNNING.includes(ifRunning))
    throw badCall(name, `ifRunning must be ${IF_RUNNING.join(', ')}`)
  if (ifRunning !== undefined && key === undefined) throw badCall(name, 'ifRunning has no effect without key')
  const common = commonFields(name, options)
  const started = nonBlank(name, 'workflow', typeof workflow === 'string' ? workflow : workflow?.name)
  return { workflow: started, key, ifRunning, ...common }
}

/** The members of a run and of an event that a step starts. */
function commonFields(name: string, { delay, at, attributes, app }: StartRunOptions & EmitEventOptions) {
  if (delay !== undefined && at !== undefined) throw badCall(name, 'give either delay or at')
  const problem = attributesProblem(attributes)
  if (problem !== undefined) throw badCall(name, `attributes: ${problem}`)
  return {
    delayMs: delay === undefined ? undefined : durationMs(name, delay),
    atMs: at === undefined ? undefined : timeMs(name, at),
    attributes,
    app: app === undefined ? undefined : nonBlank(name, 'app', app),
  }
}

export type EmitOptions = { event: string | EventDefinition; data?: unknown } & EmitEventOptions

/** @throws NonRetriableError for bad arguments, or if the engine does not know lists and options. */
export function emit(
  environment: PassEnvironment,
  name: string,
  events: EmitOptions | readonly EmitOptions[],
): Promise<EmittedEvents> {
  const emitted = environment.pass.step(name, 'Emit', id => {
    const all: readonly EmitOptions[] = Array.isArray(events) ? events : [events]
    if (all.length === 0 || all.length > EVENTS_PER_STEP_MAX)
      throw badCall(name, `a list must have 1 to ${EVENTS_PER_STEP_MAX} events, not ${all.length}`)
    const checked = all.map(options => checkedEvent(environment, name, options))
    const [first] = checked as [(typeof checked)[number]]
    const { eventName, ...options } = first.fields
    const isPlain = !Array.isArray(events) && Object.values(options).every(value => value === undefined)
    if (isPlain) return encodeOpcode('Emit', id, { eventName }, { field: 'data', text: first.text })
    checkFeature(environment, name, 'send delayed events or lists of events from')
    const listed = checked.map(({ fields, text }) => ({ ...fields, ...(text === undefined && { noData: true }) }))
    const text = `[${checked.map(({ text = 'null' }) => text).join(',')}]`
    return encodeOpcode('Emit', id, { eventName, events: listed }, { field: 'data', text })
  })
  return emitted.mapped(data => {
    const result = data as { eventId: string } | EmittedEvents | null | undefined
    if (!result) return { ids: [] }
    return 'ids' in result ? result : { ids: [result.eventId] }
  })
}

function checkedEvent(environment: PassEnvironment, name: string, options: EmitOptions) {
  checkStepOptions(name, 'emit', options)
  const { event, data, dedupeId } = options
  const eventName = exactEvent(name, eventNameOf(event))
  if (isEventDefinition(event)) {
    // The receivers of the event get JSON, so the JSON is validated.
    const what = `The event "${eventName}" of step "${name}"`
    validateSync(event.schema, asReceived(data), { what, root: 'data' })
  }
  if (dedupeId !== undefined) boundedText(name, 'dedupeId', dedupeId)
  const fields = { eventName, ...commonFields(name, options), dedupeId }
  return { fields, text: payloadText(environment, data, { kind: 'emit', name, eventName }) }
}
