// The names of the options of each step tool, and the bounds of a step's retry policy. A misspelt option would silently have no
// effect, so the step is refused for good. Called by the step tools.

import type { RetryPolicy } from '@perdure/protocol'
import { type OptionNames, unknownOption } from '../schema/known-options.ts'
import { NonRetriableError } from '../wire/errors.ts'
import type { StepRunOptions, WaitForEventOptions } from '../workflow/workflow.ts'
import { durationMs } from './duration-ms.ts'

const OPTIONS = {
  run: { catch: true, retry: true, timeout: true } satisfies OptionNames<StepRunOptions>,
  waitForEvent: { event: true, timeout: true, if: true } satisfies OptionNames<WaitForEventOptions>,
  runWorkflow: { workflow: true, data: true, app: true },
  emit: { event: true, data: true },
  'webhook.send': { url: true, data: true },
}

/** The bounds of the wire (`RetryPolicySchema`). */
const RETRY: Record<keyof Required<RetryPolicy>, readonly [min: number, max: number]> = {
  maxAttempts: [1, 1000],
  initialMs: [0, 86_400_000],
  factor: [1, 100],
  maxMs: [0, 604_800_000],
  jitter: [0, 1],
}

/** Throws a NonRetriableError for options that the tool does not have. */
export function checkStepOptions(name: string, tool: keyof typeof OPTIONS, options: unknown): void {
  refuse(unknownOption(`Step "${name}": ${tool}`, options, OPTIONS[tool]))
}

/** Throws a NonRetriableError for options of `step.run` that do not exist, or a policy that cannot be kept. */
export function checkRunOptions(name: string, options: StepRunOptions | undefined): void {
  if (options === undefined) return
  checkStepOptions(name, 'run', options)
  const { retry, timeout } = options
  if (timeout !== undefined) durationMs(name, timeout)
  if (retry === undefined) return
  refuse(unknownOption(`Step "${name}": retry`, retry, RETRY))
  for (const [field, [min, max]] of Object.entries(RETRY)) {
    const value = retry[field as keyof RetryPolicy]
    if (value === undefined) continue
    const isWhole = field !== 'maxAttempts' || Number.isInteger(value)
    if (typeof value === 'number' && isWhole && value >= min && value <= max) continue
    const kind = field === 'maxAttempts' ? 'an integer' : 'a number'
    refuse(
      `Step "${name}": retry.${field} must be ${kind} from ${min} to ${max}, not ${JSON.stringify(value) ?? String(value)}`,
    )
  }
}

function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw new NonRetriableError(problem)
}
