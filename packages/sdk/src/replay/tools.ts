// Creates the `step` and `ctx` of one pass. Each call becomes one opcode; its arguments are validated when the step is
// discovered. The tools are functions and not methods, so that handlers can destructure them (`const { run } = step`).

import { randomUUID } from 'node:crypto'
import { type Duration, type EventDefinition, type InputPlace, NonRetriableError } from '@perdure/client'
import { eventNameOf, isEventDefinition, validateSync } from '@perdure/client/internal'
import { cutText, knows, STEP_NAME_CHARS_MAX } from '@perdure/protocol'
import { map } from '../parallel/map.ts'
import { race } from '../parallel/race.ts'
import { type EncodedOpcode, encodeOpcode } from '../pass/opcode.ts'
import { Continuation } from '../pass/outcome.ts'
import { refuseNesting, scopeWithin } from '../pass/pass-scope.ts'
import type { StepId } from '../pass/step-ids.ts'
import type { StepPromise } from '../pass/step-promise.ts'
import type { RaceBranch } from '../run/branch.ts'
import { createLogger } from '../run/logger.ts'
import type { Callback, ReceivedEvent, ReceivedSignal, RunContext, StepContext } from '../run/run-context.ts'
import {
  badCall,
  boundedText,
  condition,
  durationMs,
  eventMatch,
  exactEvent,
  httpUrl,
  nonBlank,
  signalName,
  timeMs,
  waitSince,
} from '../run/step-arguments.ts'
import { CONTEXT_ELSEWHERE, STEP_TOOLS_ELSEWHERE } from '../schema/elsewhere.ts'
import { callbackUrlOf } from '../wire/callback-url.ts'
import { encodePayload } from '../wire/json.ts'
import type {
  AwaitedRun,
  RunWorkflowOptions,
  StepMapOptions,
  StepRunOptions,
  StepTools,
  WaitForEventOptions,
  WaitForRunOptions,
  WaitForSignalOptions,
  WorkflowArgs,
} from '../workflow/workflow.ts'
import {
  type CancelOptions,
  cancelRun,
  checkChildFeature,
  type EmitOptions,
  emit,
  type StartOptions,
  startRun,
} from './effect-tools.ts'
import { measured, type PassEnvironment, payloadText, StepAttempt, type StepCallback } from './run-step.ts'
import { checkRunOptions, checkStepOptions } from './step-options.ts'
import { warnOfReport, warnOfUnknownReport, warnOfUselessEvent } from './warnings.ts'

export function createStepTools(environment: PassEnvironment, ctx: RunContext): StepTools {
  const { pass, middleware } = environment
  const received = (result: StepPromise<unknown>, place: InputPlace) =>
    middleware.changesInput ? result.mapped(data => middleware.input(data, place)) : result
  const run = (name: string, callback: StepCallback, options?: StepRunOptions) =>
    received(callRun(environment, ctx, { called: name, callback, options }), { kind: 'step', name })
  const tools = {
    // Set as the prototype: every pass makes this object, and copying the members took 3 % of a pass.
    __proto__: STEP_TOOLS_ELSEWHERE,
    run,
    map: async (name: string, items: unknown, callback: unknown, options: StepMapOptions = {}) => {
      checkStepOptions(name, 'map', options)
      const { concurrency, settle, ...each } = options
      const call = (item: string, callback: StepCallback) => run(item, callback, each)
      return map(pass, { name, items, call, callback, options: { concurrency, settle } })
    },
    race: (branches: Readonly<Record<string, RaceBranch>>) => race(pass, branches),
    sleep: (name: string, duration: Duration) =>
      toVoid(pass.step(name, 'Sleep', id => encodeOpcode('Sleep', id, { sleepMs: durationMs(name, duration) }))),
    sleepUntil: (name: string, time: Date | number | string) =>
      toVoid(pass.step(name, 'SleepUntil', id => encodeOpcode('SleepUntil', id, { sleepUntilMs: timeMs(name, time) }))),
    waitForSignal: (name: string, options: WaitForSignalOptions) => waitForSignal(environment, name, options),
    waitForRun: (name: string, options: WaitForRunOptions) => waitForRun(environment, name, options),
    waitForEvent: (name: string, options: WaitOptions) => {
      const result = pass.step(name, 'WaitForEvent', id =>
        encodeOpcode('WaitForEvent', id, waitFields(environment, name, options)),
      )
      const asked = {
        op: 'WaitForEvent',
        name,
        event: eventNameOf(options?.event),
        condition: askedFor(options),
      } as const
      return pass.waits.follow(asked, result, data => receivedEvent(environment, name, options, data))
    },
    runWorkflow: (name: string, options: ChildOptions) => {
      const result = pass.step(name, 'RunWorkflow', id => {
        checkStepOptions(name, 'runWorkflow', options)
        checkChildFeature(environment, name, options)
        const text = payloadText(environment, options.data, { kind: 'child', name })
        return encodeOpcode('RunWorkflow', id, childFields(name, options), { field: 'childData', text })
      })
      return received(result, { kind: 'child', name })
    },
    startRun: (name: string, options: StartOptions) => startRun(environment, name, options),
    cancelRun: (name: string, options: CancelOptions) => cancelRun(environment, name, options),
    emit: (name: string, events: EmitOptions | readonly EmitOptions[]) => emit(environment, name, events),
  }
  return tools as StepTools
}

interface RunCall {
  /** The name of the step, or an id that was taken before. */
  called: string | StepId
  callback: StepCallback
  options?: StepRunOptions | undefined
}

/** Calls a step with a callback. */
export function callRun(
  environment: PassEnvironment,
  ctx: RunContext,
  { called, callback, options }: RunCall,
): StepPromise<unknown> {
  const result = environment.pass.step(called, 'StepRun', id => {
    const { name } = id
    if (typeof callback !== 'function') throw new NonRetriableError(`Step "${name}" has no callback`)
    checkRunOptions(id, options, environment.ctx.features)
    const { limit, limitKey: key } = options ?? {}
    if (limit !== undefined && !environment.ctx.turns?.includes(id.hashedId))
      return encodeOpcode('StepLimit', id, { limit, ...(key === undefined ? {} : { key }) })
    const wrapped = withMiddleware(environment, ctx, id, callback)
    return () => new StepAttempt(environment, id, { callback: wrapped, options })
  })
  const rollback = options?.rollback
  if (rollback && result.stepId !== undefined) environment.rollbacks?.set(result.stepId, rollback)
  return result
}

export function createRunContext(environment: PassEnvironment): RunContext {
  const { ctx, logs, pass, report } = environment
  const context: RunContext & { __proto__: object } = {
    __proto__: CONTEXT_ELSEWHERE,
    runId: ctx.runId,
    app: ctx.app,
    workflow: ctx.workflow,
    attempt: ctx.attempt,
    runner: ctx.runner,
    traceparent: ctx.traceparent,
    now: () => ownStep(environment, 'ctx.now', environment.now),
    random: () => ownStep(environment, 'ctx.random', () => Math.random()),
    uuid: () => ownStep(environment, 'ctx.uuid', () => randomUUID()),
    // No getter: V8 makes a hidden class for each literal with a getter, which keeps the whole pass until a full collection.
    logger: createLogger(logs, () => scopeWithin(pass)?.logScope ?? logs.root),
    attributes: values => {
      const problem = report.setAttributes(values)
      if (problem !== undefined) warnOfReport(logs, 'attributes', problem)
      if (!report.isKnown) warnOfUnknownReport(logs)
    },
    progress: value => {
      // A handler that repeats stored steps has already reported the progress between them. A callback is never repeated.
      if (pass.isReplaying && scopeWithin(pass) === undefined) return
      const problem = report.setProgress(value)
      if (problem !== undefined) warnOfReport(logs, 'progress', problem)
      else if (report.isKnown) pass.progressed()
      else warnOfUnknownReport(logs)
    },
    callback: (name: string, options?: { timeout?: Duration }) =>
      createCallback(environment, name, options) as Callback<never>,
    continueAs: (data?: unknown) => continueAs(environment, data) as never,
    webhook: {
      send: (name: string, options: { url: string; data?: unknown }) =>
        toVoid(
          pass.step(name, 'Webhook', id => {
            checkStepOptions(name, 'webhook.send', options)
            const text = payloadText(environment, options.data, { kind: 'webhook', name })
            const fields = { webhookUrl: httpUrl(name, options.url) }
            return encodeOpcode('Webhook', id, fields, { field: 'data', text })
          }),
        ),
    },
  }
  return context
}

/** @throws NonRetriableError if the engine does not know `continueAs`, or the data is not JSON. */
function continueAs({ ctx, middleware, eventName, pass }: PassEnvironment, data: unknown): Continuation {
  if (!knows(ctx.features, 'continue-as'))
    throw new NonRetriableError('ctx.continueAs: this engine does not support it (continue-as)')
  const text = encodePayload(middleware.output(data, { kind: 'event', name: eventName }), 'The data of ctx.continueAs')
  return new Continuation(text, () => pass.waits.givenAtEnd({ withEvents: ctx.inbox === true }))
}

/** Calls a step with a name of the SDK. The value that `make` returns is stored and replayed. */
function ownStep<T extends number | string>(environment: PassEnvironment, name: string, make: () => T): Promise<T> {
  const { middleware, pass } = environment
  const made = pass.step(name, 'StepRun', id => {
    const startedAt = performance.now()
    const text = encodePayload(middleware.output(make(), { kind: 'step', name }), `The value of ${name}`)
    return encodeOpcode('StepRun', id, measured(environment, startedAt), { field: 'data', text })
  })
  return made.mapped(data => middleware.input(data, { kind: 'step', name }) as T)
}

/** @throws NonRetriableError for bad arguments, inside the callback of a step, or if the engine does not know callbacks. */
function createCallback(environment: PassEnvironment, name: string, options: { timeout?: Duration } = {}): Callback {
  const { ctx, pass, middleware } = environment
  refuseNesting(pass, name)
  const id = pass.ids.next(name)
  const url = callbackUrlOf(ctx, id.hashedId)
  if (url === undefined) throw badCall(name, 'this engine does not support callbacks (callbacks)')
  checkStepOptions(name, 'callback', options)
  const timeoutMs = options.timeout === undefined ? undefined : durationMs(name, options.timeout)
  let waited: Promise<unknown> | undefined
  const wait = () => {
    waited ??= pass
      .step(id, 'WaitForCallback', () => encodeOpcode('WaitForCallback', id, { timeoutMs }))
      .mapped(data => (data === null ? null : middleware.input(data, { kind: 'callback', name })))
    return waited
  }
  return { url, wait }
}

/** @throws NonRetriableError for bad arguments, or if the engine cannot wait for runs. */
function waitForRun<Result>(
  { ctx, pass, middleware }: PassEnvironment,
  name: string,
  options: WaitForRunOptions,
): Promise<AwaitedRun<Result> | null> {
  const ended = pass.step(name, 'WaitForRun', id => {
    if (!knows(ctx.features, 'wait-for-run')) throw badCall(name, 'this engine cannot wait for runs (wait-for-run)')
    checkStepOptions(name, 'waitForRun', options)
    const { timeout } = options
    const runId = boundedText(name, 'runId', options.runId)
    const timeoutMs = timeout === undefined ? undefined : durationMs(name, timeout)
    return encodeOpcode('WaitForRun', id, { runId, timeoutMs })
  })
  return ended.mapped(data => {
    const end = data as AwaitedRun<Result> | null
    if (end?.status !== 'succeeded' || end.result === undefined || !middleware.changesInput) return end
    return { ...end, result: middleware.input(end.result, { kind: 'child', name }) as Result }
  })
}

/** @throws NonRetriableError for bad arguments, or if the engine does not know signals. */
function waitForSignal(
  environment: PassEnvironment,
  name: string,
  options: WaitForSignalOptions,
): Promise<ReceivedSignal | null> {
  const { ctx, pass, logs, middleware } = environment
  const asked = { op: 'WaitForSignal', name, event: options?.signal, condition: undefined } as const
  const result = pass.step(name, 'WaitForSignal', id => {
    if (!knows(ctx.features, 'signals')) throw badCall(name, 'this engine does not support signals (signals)')
    checkStepOptions(name, 'waitForSignal', options)
    const { timeout } = options
    return encodeOpcode('WaitForSignal', id, {
      signal: signalName(name, options.signal),
      timeoutMs: timeout === undefined ? undefined : durationMs(name, timeout),
      since: waitSince(name, options.since),
      given: pass.waits.given(asked, wait => warnOfUselessEvent(logs, wait)),
    })
  })
  return pass.waits.follow(asked, result, stored => {
    if (stored === null || stored === undefined) return null
    const { isUpdate, ...signal } = stored as ReceivedEvent & { isUpdate?: true }
    const data = middleware.input(signal.data, { kind: 'wait', name, eventName: signal.name })
    const received = data === signal.data ? signal : { ...signal, data }
    return withAnswers(environment, name, received, isUpdate === true)
  })
}

/** Gives a signal its methods, which the JSON of the signal does not show. For a plain signal nobody waits for an answer. */
function withAnswers(
  { pass, middleware }: PassEnvironment,
  wait: string,
  signal: ReceivedEvent,
  isUpdate: boolean,
): ReceivedSignal {
  const name = cutText(`reply to ${wait}`, STEP_NAME_CHARS_MAX)
  const answer = async (encode: (id: StepId) => EncodedOpcode) => {
    if (isUpdate) await toVoid(pass.step(name, 'ReplyToUpdate', encode))
  }
  const updateId = signal.id
  return Object.defineProperties(signal, {
    reply: {
      value: (value?: unknown) =>
        answer(id => {
          const text = encodePayload(middleware.output(value, { kind: 'step', name }), `The reply to "${signal.name}"`)
          return encodeOpcode('ReplyToUpdate', id, { updateId }, { field: 'data', text })
        }),
    },
    reject: {
      value: (message: string) =>
        answer(id => {
          if (typeof message !== 'string') throw badCall(name, `a rejection needs a message, not ${String(message)}`)
          return encodeOpcode('ReplyToUpdate', id, { updateId, rejected: message })
        }),
    },
  }) as ReceivedSignal
}

type WaitOptions = Omit<WaitForEventOptions, 'event'> & { event: string | EventDefinition }

/** Wraps a callback in the step middleware. The result of the middleware is stored. */
function withMiddleware(
  { middleware, run }: PassEnvironment,
  ctx: RunContext,
  { name, hashedId }: StepId,
  callback: StepCallback,
): StepCallback {
  if (!middleware.touchesSteps) return callback
  return async (context: StepContext) => {
    const step = { name, id: hashedId, op: 'StepRun', attempt: context.attempt } as const
    const { event } = run.args as WorkflowArgs
    const result = await middleware.step({ step, ctx, event }, () => callback(context))
    return middleware.output(result, { kind: 'step', name })
  }
}

/** Returns the event of a wait; null when the wait timed out. */
function receivedEvent(
  { middleware }: PassEnvironment,
  name: string,
  { event }: WaitOptions,
  stored: unknown,
): ReceivedEvent | null {
  const received = (stored ?? null) as ReceivedEvent | null
  if (received === null) return null
  let data = middleware.input(received.data, { kind: 'wait', name, eventName: received.name })
  if (isEventDefinition(event)) {
    const what = `The event "${received.name}" of step "${name}"`
    data = validateSync(event.schema, data, { what, root: 'data' })
  }
  return data === received.data ? received : { ...received, data }
}

type ChildOptions = Partial<RunWorkflowOptions> & { workflow: string | { name: string }; data?: unknown }

function childFields(name: string, { workflow, app, timeout, priority }: ChildOptions) {
  const childName = nonBlank(name, 'workflow', typeof workflow === 'string' ? workflow : workflow?.name)
  if (priority !== undefined && (typeof priority !== 'number' || !Number.isFinite(priority)))
    throw badCall(name, 'priority must be a finite number')
  const timeoutMs = timeout === undefined ? undefined : durationMs(name, timeout)
  return { childName, childApp: app === undefined ? undefined : nonBlank(name, 'app', app), timeoutMs, priority }
}

function waitFields({ ctx, pass, logs }: PassEnvironment, name: string, options: WaitOptions) {
  checkStepOptions(name, 'waitForEvent', options)
  const event = exactEvent(name, eventNameOf(options.event))
  const since = waitSince(name, options.since)
  const onUseless = (wait: string) => warnOfUselessEvent(logs, wait)
  const isOrdered = knows(ctx.features, 'wait-order')
  const match = eventMatch(name, options.match)
  const unknown = since === 'now' ? 'since: "now"' : match === undefined ? undefined : 'match'
  if (unknown !== undefined && !isOrdered) throw badCall(name, `this engine does not support ${unknown} (wait-order)`)
  return {
    eventName: event,
    timeoutMs: options.timeout === undefined ? undefined : durationMs(name, options.timeout),
    if: condition(name, options.if),
    ...(match === undefined ? {} : { match }),
    ...(since === 'now' ? { since } : {}),
    ...(isOrdered
      ? { given: pass.waits.given({ op: 'WaitForEvent', event, condition: askedFor(options) }, onUseless) }
      : {}),
  }
}

/** Returns the conditions of a wait in one form, so that equal waits can be recognised. */
function askedFor(options: WaitOptions | undefined): unknown {
  return options?.match === undefined ? options?.if : JSON.stringify([options.if, options.match])
}

/** Hides the data that the engine stores for such a step (an id, a time). */
function toVoid(promise: StepPromise<unknown>): Promise<void> {
  return promise.mapped(() => undefined)
}
