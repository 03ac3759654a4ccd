// `step.startRun` and `step.cancelRun` (docs/steps.md#starting-runs). Called by the step tools.

import { type Duration, NonRetriableError } from '@perdure/client'
import { IF_RUNNING, KEY_CHARS_MAX, NAME_CHARS_MAX, START_RUN_FEATURE } from '@perdure/protocol'
import { encodeOpcode } from '../pass/opcode.ts'
import { durationMs } from '../run/duration-ms.ts'
import { attributesProblem } from '../run/run-report.ts'
import type { RunWorkflowOptions, StartedRun, StartRunOptions } from '../workflow/workflow.ts'
import { type PassEnvironment, payloadText } from './run-step.ts'
import { checkStepOptions, nonBlank, timeMs } from './step-options.ts'

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
    const { runId } = options
    if (typeof runId !== 'string' || runId === '' || runId.length > NAME_CHARS_MAX)
      throw new NonRetriableError(`Step "${name}": runId must be a text of 1 to ${NAME_CHARS_MAX} characters`)
    return encodeOpcode('CancelRun', id, { runId })
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
    checkFeature(environment, name, 'bound or order child')
}

function checkFeature({ ctx }: PassEnvironment, name: string, what: string): void {
  if (!ctx.features?.includes(START_RUN_FEATURE))
    throw new NonRetriableError(`Step "${name}": this engine cannot ${what} runs (${START_RUN_FEATURE})`)
}

function startFields(name: string, options: StartOptions) {
  const { workflow, app, key, ifRunning, delay, at, attributes } = options
  const bad = (problem: string) => new NonRetriableError(`Step "${name}": ${problem}`)
  if (key !== undefined && (typeof key !== 'string' || key === '' || key.length > KEY_CHARS_MAX))
    throw bad(`key must be a text of 1 to ${KEY_CHARS_MAX} characters`)
  if (ifRunning !== undefined && !IF_RUNNING.includes(ifRunning))
    throw bad(`ifRunning must be ${IF_RUNNING.join(', ')}`)
  if (ifRunning !== undefined && key === undefined) throw bad('ifRunning has no effect without key')
  if (delay !== undefined && at !== undefined) throw bad('give either delay or at')
  const problem = attributesProblem(attributes)
  if (problem !== undefined) throw bad(`attributes: ${problem}`)
  return {
    workflow: nonBlank(name, 'workflow', typeof workflow === 'string' ? workflow : workflow?.name),
    app: app === undefined ? undefined : nonBlank(name, 'app', app),
    key,
    ifRunning,
    ...laterFields(name, { delay, at }),
    attributes,
  }
}

/** The time of what is to come later. */
function laterFields(
  name: string,
  { delay, at }: { delay?: Duration | undefined; at?: Date | number | string | undefined },
) {
  return {
    delayMs: delay === undefined ? undefined : durationMs(name, delay),
    atMs: at === undefined ? undefined : timeMs(name, at),
  }
}
