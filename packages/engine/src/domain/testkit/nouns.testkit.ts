// Runs, steps, opcodes, outcomes and catalogs for the domain's tests. Every field that a test does not need to name is filled
// in.

import { matchesEvent } from '../expressions/matching.ts'
import type { CatalogView } from '../model/catalog.ts'
import type { Endpoint } from '../model/endpoint.ts'
import type { Event } from '../model/event.ts'
import type { Run } from '../model/run.ts'
import type { Step } from '../model/step.ts'
import type { Runner, Workflow } from '../model/workflow.ts'
import type { Outcome } from '../pass/answer/outcome.ts'
import type { PassOpcode, PassOpcodeOf } from '../pass/opcodes/opcode.ts'
import { DEFAULT_RETRY } from '../run/retry.ts'

export const NOW = Date.UTC(2026, 0, 1)
export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** A running run of the workflow `order`, started a minute ago and leased by `engine-1`. */
export function run(fields: Partial<Run> = {}): Run {
  return {
    namespace: 'default',
    id: 'run_1',
    workflow: 'order',
    app: 'shop',
    status: 'running',
    triggerKind: 'event',
    eventName: 'order.placed',
    eventId: 'evt_trigger',
    trigger: { id: 'evt_trigger', name: 'order.placed' },
    input: '{"total":12}',
    attempt: 1,
    transportTries: 0,
    createdAt: NOW - MINUTE,
    startedAt: NOW - MINUTE,
    startedSeq: 2,
    fence: 3,
    availableAt: NOW + 15 * SECOND,
    leaseOwner: 'engine-1',
    ...fields,
  }
}

/** A run without a lease: queued, waiting, paused or ended. */
export function idleRun(status: Run['status'], fields: Partial<Run> = {}): Run {
  const availableAt = status === 'queued' || status === 'waiting' ? NOW : undefined
  return run({ status, leaseOwner: undefined, availableAt, ...fields })
}

export function endedRun(status: 'succeeded' | 'failed' | 'cancelled', fields: Partial<Run> = {}): Run {
  return idleRun(status, { finishedAt: NOW - SECOND, finishedSeq: 99, ...fields })
}

export type GivenStep = Omit<Step, 'runId' | 'index' | 'seq'>

/** The id of a step of that name. The engine accepts any text as an id. */
export const idOf = (name: string): string => `hash-of-${name}`

function step(name: string, fields: Pick<Step, 'op' | 'status'> & Partial<Step>): GivenStep {
  return { id: idOf(name), name, attempt: 1, startedAt: NOW - MINUTE, ...fields }
}

export const succeeded = (name: string, data = 'null', fields: Partial<Step> = {}): GivenStep =>
  step(name, { op: 'StepRun', status: 'succeeded', data, finishedAt: NOW - MINUTE, ...fields })

export const failed = (name: string, fields: Partial<Step> = {}): GivenStep =>
  step(name, {
    op: 'StepRun',
    status: 'failed',
    error: { message: 'broken' },
    finishedAt: NOW - MINUTE,
    ...fields,
  })

export const cancelled = (name: string, fields: Partial<Step> = {}): GivenStep =>
  step(name, { op: 'Sleep', status: 'cancelled', finishedAt: NOW - MINUTE, ...fields })

export const retrying = (name: string, nextAttemptAt: number, fields: Partial<Step> = {}): GivenStep =>
  step(name, {
    op: 'StepRun',
    status: 'retrying',
    error: { message: 'not yet' },
    nextAttemptAt,
    ...fields,
  })

export const sleeping = (name: string, wakeAt: number): GivenStep =>
  step(name, { op: 'Sleep', status: 'waiting', wakeAt })

export const waiting = (name: string, eventName: string, fields: Partial<Step> = {}): GivenStep =>
  step(name, { op: 'WaitForEvent', status: 'waiting', eventName, ...fields })

export const awaitingRun = (name: string, awaitedRunId: string, fields: Partial<Step> = {}): GivenStep =>
  step(name, { op: 'WaitForRun', status: 'waiting', awaitedRunId, ...fields })

export const awaitingChild = (name: string, childRunId: string): GivenStep =>
  step(name, { op: 'RunWorkflow', status: 'waiting', childRunId })

const opcode = (name: string) => ({ id: idOf(name), name })

export const ran = (name: string, data?: string, fields: Partial<PassOpcodeOf<'StepRun'>> = {}): PassOpcode => ({
  op: 'StepRun',
  ...opcode(name),
  ...(data === undefined ? {} : { data }),
  ...fields,
})

export const limits = (name: string, limit: string): PassOpcode => ({ op: 'StepLimit', ...opcode(name), limit })

export const threw = (name: string, fields: Partial<PassOpcodeOf<'StepRun'>> = {}): PassOpcode => ({
  op: 'StepRun',
  ...opcode(name),
  error: { message: `${name} broke` },
  ...fields,
})

export const sleeps = (name: string, sleepMs: number): PassOpcode => ({
  op: 'Sleep',
  ...opcode(name),
  sleepMs,
})

export const sleepsUntil = (name: string, sleepUntilMs: number): PassOpcode => ({
  op: 'SleepUntil',
  ...opcode(name),
  sleepUntilMs,
})

export const waitsFor = (
  name: string,
  eventName: string,
  fields: Partial<PassOpcodeOf<'WaitForEvent'>> = {},
): PassOpcode => ({ op: 'WaitForEvent', ...opcode(name), eventName, ...fields })

export const waitsForCallback = (name: string, fields: Partial<PassOpcodeOf<'WaitForCallback'>> = {}): PassOpcode => ({
  op: 'WaitForCallback',
  ...opcode(name),
  ...fields,
})

export const waitsForRun = (
  name: string,
  runId: string,
  fields: Partial<PassOpcodeOf<'WaitForRun'>> = {},
): PassOpcode => ({ op: 'WaitForRun', ...opcode(name), runId, ...fields })

export const waitsForSignal = (
  name: string,
  signal: string,
  fields: Partial<PassOpcodeOf<'WaitForSignal'>> = {},
): PassOpcode => ({ op: 'WaitForSignal', ...opcode(name), signal, ...fields })

export const replies = (name: string, updateId: string, data?: string): PassOpcode => ({
  op: 'ReplyToUpdate',
  ...opcode(name),
  updateId,
  ...(data === undefined ? {} : { data }),
})

export const runsChild = (
  name: string,
  childName: string,
  fields: Partial<PassOpcodeOf<'RunWorkflow'>> = {},
): PassOpcode => ({ op: 'RunWorkflow', ...opcode(name), childName, ...fields })

export const startsRun = (
  name: string,
  workflow: string,
  fields: Partial<PassOpcodeOf<'StartRun'>> = {},
): PassOpcode => ({ op: 'StartRun', ...opcode(name), workflow, ...fields })

export const cancelsRun = (name: string, runId: string): PassOpcode => ({ op: 'CancelRun', ...opcode(name), runId })

export const emits = (name: string, eventName: string, data?: string): PassOpcode => ({
  op: 'Emit',
  ...opcode(name),
  eventName,
  ...(data === undefined ? {} : { data }),
})

export const sends = (name: string, webhookUrl: string, data?: string): PassOpcode => ({
  op: 'Webhook',
  ...opcode(name),
  webhookUrl,
  ...(data === undefined ? {} : { data }),
})

export const reported = (...opcodes: PassOpcode[]): Outcome => ({ kind: 'opcodes', opcodes, logs: [] })

export const returned = (data?: string): Outcome => ({
  kind: 'returned',
  logs: [],
  ...(data === undefined ? {} : { data }),
})

export const rejected: Outcome = {
  kind: 'rejected',
  error: { message: 'no such workflow', code: 'runner_rejected' },
  logs: [],
}

export const brokeOff: Outcome = {
  kind: 'transportFailed',
  error: { message: 'socket hang up', code: 'runner_unreachable' },
  logs: [],
}

export function workflow(name: string, fields: Partial<Workflow> = {}): Workflow {
  return {
    namespace: 'default',
    app: 'shop',
    name,
    triggers: [{ event: name }],
    retry: DEFAULT_RETRY,
    onFailure: false,
    updatedAt: NOW - HOUR,
    ...fields,
  }
}

export function runner(runnerId: string, fields: Partial<Runner> = {}): Runner {
  return {
    namespace: 'default',
    app: 'shop',
    runnerId,
    url: `http://${runnerId}.test/invoke`,
    workflows: ['order'],
    lastSeenAt: NOW - SECOND,
    ...fields,
  }
}

export function catalog(...workflows: Workflow[]): CatalogView {
  return {
    namespace: 'default',
    workflow: (app, name) => workflows.find(known => known.app === app && known.name === name),
    isPaused: (app, name) =>
      workflows.some(known => known.app === app && known.name === name && known.pausedAt !== undefined),
    triggerNames: () => workflows.flatMap(({ triggers }) => triggers.flatMap(({ event }) => event ?? [])),
    triggeredBy: eventName =>
      workflows.filter(({ triggers }) => triggers.some(trigger => matchesEvent(trigger, eventName))),
    workflowNames: () => workflows.map(({ name }) => name),
    appsWith: name => workflows.filter(known => known.name === name).map(({ app }) => app),
    runners: () => [],
    stepLimits: app => new Map([['openai', { namespace: 'default', app, name: 'openai', limit: 2, periodMs: MINUTE }]]),
    subscribers: () => [],
    deliveryAttemptsMax: 8,
    generationsMax: 100,
    childGraceMs: 0,
    suspended: false,
  }
}

export function event(id: string, name: string, fields: Partial<Event> = {}): Event {
  return {
    namespace: 'default',
    id,
    name,
    source: 'api',
    receivedAt: NOW - SECOND,
    woke: 0,
    triggered: [],
    ...fields,
  }
}

export function endpoint(id: string, fields: Partial<Endpoint> = {}): Endpoint {
  return {
    namespace: 'default',
    id,
    url: `https://example.test/${id}`,
    eventKinds: ['run.succeeded', 'run.failed', 'run.cancelled', 'step.failed'],
    enabled: true,
    secret: 'plain:whsec_c2VjcmV0',
    createdAt: NOW,
    updatedAt: NOW,
    version: 1,
    ...fields,
  }
}
