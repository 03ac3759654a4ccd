// The `step` and `ctx` of one pass: each call checks its arguments when the step is discovered and becomes one
// opcode (contract §2.11). Functions, not methods: handlers take them apart (`const { run } = step`).

import { parseDurationMs } from '@perdure/protocol'
import { NonRetriableError } from '../errors.ts'
import { encodePayload } from '../json.ts'
import { DELAY_MS_MAX, NAME_CHARS_MAX } from '../limits.ts'
import { createLogger, type Logger } from '../logger.ts'
import type { Duration, RunContext, StepRunOptions, StepTools, WaitForEventOptions } from '../step-tools.ts'
import type { PassEnvironment } from './environment.ts'
import { encodeOpcode } from './opcode.ts'
import { runStep, type StepCallback } from './run-step.ts'
import { scopeWithin } from './step-scope.ts'

export function createStepTools(environment: PassEnvironment): StepTools {
  const { pass } = environment
  const tools = {
    run: (name: string, callback: StepCallback, options?: StepRunOptions) =>
      pass.step(name, id => {
        if (typeof callback !== 'function') throw new NonRetriableError(`Step "${name}" has no callback`)
        return runStep(environment, id, { callback, options })
      }),
    sleep: (name: string, duration: Duration) =>
      toVoid(pass.step(name, id => encodeOpcode('Sleep', id, { sleepMs: durationMs(name, duration) }))),
    sleepUntil: (name: string, time: Date | number | string) =>
      toVoid(pass.step(name, id => encodeOpcode('SleepUntil', id, { sleepUntilMs: timeMs(name, time) }))),
    waitForEvent: (name: string, options: WaitForEventOptions) =>
      map(
        pass.step(name, id => encodeOpcode('WaitForEvent', id, waitFields(name, options))),
        data => data ?? null,
      ),
    runWorkflow: (name: string, options: ChildOptions) =>
      pass.step(name, id => {
        const text = encodePayload(options.data, `The data of step "${name}"`)
        return encodeOpcode('RunWorkflow', id, childFields(name, options), { field: 'childData', text })
      }),
    emit: (name: string, options: { event: string; data?: unknown }) =>
      toVoid(
        pass.step(name, id => {
          const text = encodePayload(options.data, `The data of step "${name}"`)
          const eventName = nonBlank(name, 'event', options.event)
          return encodeOpcode('Emit', id, { eventName }, { field: 'data', text })
        }),
      ),
  }
  return tools as StepTools
}

export function createRunContext(environment: PassEnvironment): RunContext {
  const { ctx, logs, pass } = environment
  let logger: Logger | undefined
  return {
    runId: ctx.runId,
    app: ctx.app,
    workflow: ctx.workflow,
    attempt: ctx.attempt,
    runner: ctx.runner,
    ...(ctx.traceparent !== undefined && { traceparent: ctx.traceparent }),
    get logger() {
      logger ??= createLogger(logs, () => scopeWithin(pass)?.logScope ?? logs.root)
      return logger
    },
    webhook: {
      send: (name: string, options: { url: string; data?: unknown }) =>
        toVoid(
          pass.step(name, id => {
            const text = encodePayload(options.data, `The data of step "${name}"`)
            return encodeOpcode(
              'Webhook',
              id,
              { webhookUrl: httpUrl(name, options.url) },
              { field: 'data', text },
            )
          }),
        ),
    },
  }
}

type ChildOptions = { workflow: string | { name: string }; data?: unknown; app?: string }

function childFields(
  name: string,
  { workflow, app }: ChildOptions,
): { childName: string; childApp?: string } {
  const childName = nonBlank(name, 'workflow', typeof workflow === 'string' ? workflow : workflow?.name)
  return app === undefined ? { childName } : { childName, childApp: nonBlank(name, 'app', app) }
}

function waitFields(name: string, options: WaitForEventOptions) {
  return {
    eventName: nonBlank(name, 'event', options.event),
    ...(options.timeout !== undefined && { timeoutMs: durationMs(name, options.timeout) }),
    ...(options.if !== undefined && { if: options.if }),
  }
}

function durationMs(name: string, duration: Duration): number {
  const ms = parseDurationMs(duration)
  if (ms === undefined || ms > DELAY_MS_MAX)
    throw new NonRetriableError(`Step "${name}": not a duration: ${String(duration)}`)
  return ms
}

function timeMs(name: string, time: Date | number | string): number {
  const ms = typeof time === 'number' ? time : new Date(time).getTime()
  if (!Number.isFinite(ms)) throw new NonRetriableError(`Step "${name}": not a time: ${String(time)}`)
  return ms
}

function nonBlank(name: string, field: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= NAME_CHARS_MAX) return value
  throw new NonRetriableError(`Step "${name}": ${field} must be a name of 1 to ${NAME_CHARS_MAX} characters`)
}

function httpUrl(name: string, url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
  throw new NonRetriableError(`Step "${name}": not an http or https URL: ${String(url)}`)
}

/** A step promise with its data replaced; like the one it comes from, it may be looked at late. */
function map<T>(promise: Promise<unknown>, change: (data: unknown) => T): Promise<T> {
  const mapped = promise.then(change)
  mapped.catch(() => undefined)
  return mapped
}

/** What the engine notes of such a step (an id, a time) is no result of it. */
function toVoid(promise: Promise<unknown>): Promise<void> {
  return map(promise, () => undefined)
}
