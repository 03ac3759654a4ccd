// The names of the options of each step tool, and the bounds of a step's retry policy. A misspelt option would silently have no
// effect, so the step is refused for good. Called by the step tools.

import { NonRetriableError } from '@perdure/client'
import { type OptionNames, unknownOption } from '@perdure/client/internal'
import {
  cutText,
  KEY_CHARS_MAX,
  knows,
  NAME_CHARS_MAX,
  NON_RETRIABLE_MAX,
  parseDurationMs,
  positionalStepId,
  type RetryPolicy,
  STEP_LIMIT_NAME_CHARS_MAX,
  STEP_NAME_CHARS_MAX,
} from '@perdure/protocol'
import { rollbackNameOf } from '../cleanup/followed-run.ts'
import type { StepId } from '../pass/step-ids.ts'
import { durationMs } from '../run/step-arguments.ts'
import type {
  StepMapOptions,
  StepRunOptions,
  WaitForEventOptions,
  WaitForRunOptions,
  WaitForSignalOptions,
} from '../workflow/workflow.ts'

const RUN_AND_MAP = { retry: true, timeout: true, rollback: true, limit: true, limitKey: true } as const
const OPTIONS = {
  run: { catch: true, ...RUN_AND_MAP } satisfies OptionNames<StepRunOptions>,
  map: { concurrency: true, settle: true, ...RUN_AND_MAP } satisfies OptionNames<StepMapOptions>,
  waitForEvent: {
    event: true,
    timeout: true,
    if: true,
    match: true,
    since: true,
  } satisfies OptionNames<WaitForEventOptions>,
  waitForSignal: { signal: true, timeout: true, since: true } satisfies OptionNames<WaitForSignalOptions>,
  waitForRun: { runId: true, timeout: true } satisfies OptionNames<WaitForRunOptions>,
  runWorkflow: { workflow: true, data: true, app: true, timeout: true, priority: true },
  startRun: {
    workflow: true,
    app: true,
    data: true,
    key: true,
    ifRunning: true,
    delay: true,
    at: true,
    attributes: true,
  },
  cancelRun: { runId: true },
  emit: { event: true, data: true, delay: true, at: true, dedupeId: true, attributes: true, app: true },
  callback: { timeout: true },
  'webhook.send': { url: true, data: true },
}

/** The bounds of the wire (`RetryPolicySchema`); true: not a number. */
const RETRY: Record<keyof Required<RetryPolicy>, readonly [min: number, max: number] | true> = {
  maxAttempts: [1, 1000],
  initialMs: [0, 86_400_000],
  factor: [1, 100],
  maxMs: [0, 604_800_000],
  jitter: [0, 1],
  maxElapsed: true,
  nonRetriable: true,
}

/** Throws a NonRetriableError for options that the tool does not have. */
export function checkStepOptions(name: string, tool: keyof typeof OPTIONS, options: unknown): void {
  refuse(unknownOption(`Step "${name}": ${tool}`, options, OPTIONS[tool]))
}

/** Throws a NonRetriableError for options of `step.run` that do not exist, or that this engine or no engine can honour. */
export function checkRunOptions(
  id: StepId,
  options: StepRunOptions | undefined,
  features: readonly string[] = [],
): void {
  if (options === undefined) return
  const { name } = id
  checkStepOptions(name, 'run', options)
  const { retry, timeout, rollback } = options
  refuse(problemOfLimit(name, options, features))
  if (rollback !== undefined) refuse(problemOfRollback(id, rollback, features))
  if (timeout !== undefined) durationMs(name, timeout)
  if (retry === undefined) return
  refuse(unknownOption(`Step "${name}": retry`, retry, RETRY))
  const { maxElapsed, nonRetriable } = retry
  if (maxElapsed !== undefined) durationMs(name, maxElapsed)
  if (nonRetriable !== undefined && !isListOfNames(nonRetriable))
    refuse(`Step "${name}": retry.nonRetriable must be a list of up to ${NON_RETRIABLE_MAX} names or codes of errors`)
  for (const [field, bounds] of Object.entries(RETRY)) {
    const value = retry[field as keyof RetryPolicy]
    if (value === undefined || bounds === true || (field === 'maxAttempts' && value === 'unlimited')) continue
    const [min, max] = bounds
    const isWhole = field !== 'maxAttempts' || Number.isInteger(value)
    if (typeof value === 'number' && isWhole && value >= min && value <= max) continue
    const kind = field === 'maxAttempts' ? '"unlimited" or an integer' : 'a number'
    refuse(
      `Step "${name}": retry.${field} must be ${kind} from ${min} to ${max}, not ${JSON.stringify(value) ?? String(value)}`,
    )
  }
}

function problemOfLimit(
  name: string,
  { limit, limitKey }: StepRunOptions,
  features: readonly string[],
): string | undefined {
  const step = `Step "${cutText(name, 100)}"`
  if (limit === undefined) return limitKey === undefined ? undefined : `${step}: limitKey has no effect without limit`
  if (!isText(limit, STEP_LIMIT_NAME_CHARS_MAX))
    return `${step}: limit must be the name of a limit, a string of 1 to ${STEP_LIMIT_NAME_CHARS_MAX} characters`
  if (limitKey !== undefined && !isText(limitKey, KEY_CHARS_MAX))
    return `${step}: limitKey must be a string of 1 to ${KEY_CHARS_MAX} characters`
  return knows(features, 'step-limits')
    ? undefined
    : `${step}: this engine does not support limits of steps (step-limits)`
}

function isText(value: unknown, charsMax: number): boolean {
  return typeof value === 'string' && value !== '' && value.length <= charsMax
}

function problemOfRollback(id: StepId, rollback: unknown, features: readonly string[]): string | undefined {
  const step = `Step "${cutText(id.name, 100)}"`
  if (typeof rollback !== 'function') return `${step}: rollback must be a function`
  if (!knows(features, 'cleanup')) return `${step}: this engine does not support rollbacks (cleanup)`
  const { length } = rollbackNameOf(positionalStepId(id.name, id.use))
  if (length <= STEP_NAME_CHARS_MAX) return undefined
  return `${step}: with "rollback:" before it, its name is longer than ${STEP_NAME_CHARS_MAX} characters`
}

function isListOfNames(value: unknown): boolean {
  const isName = (one: unknown) => typeof one === 'string' && one !== '' && one.length <= NAME_CHARS_MAX
  return Array.isArray(value) && value.length <= NON_RETRIABLE_MAX && value.every(isName)
}

/**
 * Returns the policy in the form of an opcode, in milliseconds; undefined if the engine accepts none. An engine that does not
 * name `memo-attempt` knows neither unlimited attempts nor the other ends of the tries.
 */
export function sentRetry({ maxElapsed, ...retry }: RetryPolicy, features: readonly string[] = []) {
  if (!knows(features, 'step-policy')) return undefined
  if (!knows(features, 'memo-attempt')) {
    const { nonRetriable: _, ...known } = retry
    return known.maxAttempts === 'unlimited' ? { ...known, maxAttempts: 1000 } : known
  }
  if (maxElapsed === undefined) return retry
  return { ...retry, maxElapsed: parseDurationMs(maxElapsed) as number }
}

function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw new NonRetriableError(problem)
}
