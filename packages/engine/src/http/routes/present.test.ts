import { describe, expect, test } from 'vitest'
import { anEvent, aRun } from '../../../../../test/kit/http/rows.ts'
import type { LogLine } from '../../domain/model/log-line.ts'
import type { Step } from '../../domain/model/step.ts'
import { timestamp } from '../../domain/text/timestamp.ts'
import { runSummary } from '../../domain/view/run-summary.ts'
import { eventText } from './event/present-event.ts'
import type { ListedWorkflow } from './registry/present-registry.ts'
import { presentRunner, presentWorkflow } from './registry/present-registry.ts'
import { logLineText } from './run/present.ts'
import { stepText } from './run/present-step.ts'

const T = Date.parse('2024-01-02T03:04:05.678Z')
const LETTER = '{ "b":1.0, "a":12345678901234567890, "a":"\\u0000\\ud800" }'
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('timestamps', () => {
  test.each([
    [0, '1970-01-01T00:00:00.000Z'],
    [T, '2024-01-02T03:04:05.678Z'],
    [T + 0.9, '2024-01-02T03:04:05.678Z'],
    [1e300, '9999-12-31T23:59:59.999Z'],
    [Number.POSITIVE_INFINITY, '9999-12-31T23:59:59.999Z'],
    [-1e300, '0000-01-01T00:00:00.000Z'],
  ])('%d', (ms, expected) => {
    expect(timestamp(ms)).toBe(expected)
  })
})

describe('runs', () => {
  test('a new run shows what applies and nothing internal', () => {
    expect(plain(runSummary(aRun()))).toEqual({
      id: 'run_1',
      workflow: 'checkout',
      app: 'shop',
      status: 'queued',
      triggerKind: 'event',
      attempt: 1,
      createdAt: '2024-01-02T03:04:05.678Z',
    })
  })

  test('a run shows every field that applies', () => {
    const run = aRun({
      eventName: 'order/created',
      eventId: 'evt_1',
      cron: '* * * * *',
      replayOf: 'run_0',
      parentRunId: 'run_9',
      runner: 'r1',
      startedAt: T + 1,
      finishedAt: T + 51,
      error: { message: 'no', code: 'step_failed', stepName: 'charge' },
      waitingFor: { kind: 'sleep', stepName: 'nap', until: T },
      input: '1',
      result: '2',
    })
    expect(plain(runSummary({ ...run, currentStepName: 'charge' }))).toEqual({
      id: 'run_1',
      workflow: 'checkout',
      app: 'shop',
      status: 'queued',
      triggerKind: 'event',
      eventName: 'order/created',
      eventId: 'evt_1',
      cron: '* * * * *',
      replayOf: 'run_0',
      parentRunId: 'run_9',
      runner: 'r1',
      attempt: 1,
      createdAt: '2024-01-02T03:04:05.678Z',
      startedAt: '2024-01-02T03:04:05.679Z',
      finishedAt: '2024-01-02T03:04:05.729Z',
      durationMs: 50,
      currentStepName: 'charge',
      error: { message: 'no', code: 'step_failed', stepName: 'charge' },
      waitingFor: { kind: 'sleep', stepName: 'nap', until: '2024-01-02T03:04:05.678Z' },
    })
  })

  test('a run cancelled before it started took no time', () => {
    expect(runSummary(aRun({ finishedAt: T })).durationMs).toBe(0)
  })
})

describe('steps and log lines', () => {
  const step: Step = {
    runId: 'run_1',
    id: 'abc',
    name: 'charge',
    op: 'StepRun',
    index: 0,
    status: 'succeeded',
    attempt: 2,
    seq: 9,
    startedAt: T,
  }

  test('a step shows what applies and nothing internal', () => {
    expect(JSON.parse(stepText({ ...step, condition: 'true', eventId: 'evt_1' }))).toEqual({
      id: 'abc',
      name: 'charge',
      op: 'StepRun',
      index: 0,
      status: 'succeeded',
      attempt: 2,
      startedAt: '2024-01-02T03:04:05.678Z',
    })
  })

  test('a step shows every field that applies, and the exact text of its data', () => {
    const rest = { eventName: 'e', childRunId: 'run_2', deliveryId: 'dlv_1', emittedEventId: 'evt_2' }
    const flags = { carried: true, timedOut: true }
    const tries = { maxAttempts: 5 }
    const times = { finishedAt: T + 5, nextAttemptAt: T, wakeAt: 1e300 }
    const text = stepText({ ...step, ...rest, ...flags, ...tries, ...times, error: { message: 'no' }, data: LETTER })
    expect(text.endsWith(`,"data":${LETTER}}`)).toBe(true)
    expect(JSON.parse(text)).toMatchObject({
      ...rest,
      ...flags,
      ...tries,
      error: { message: 'no' },
      durationMs: 5,
      finishedAt: '2024-01-02T03:04:05.683Z',
      nextAttemptAt: '2024-01-02T03:04:05.678Z',
      wakeAt: '9999-12-31T23:59:59.999Z',
    })
  })

  test('a log line shows the exact text of its fields', () => {
    const line: LogLine = {
      runId: 'run_1',
      seq: 4,
      ts: T,
      level: 'warn',
      message: 'a "quoted"\u0000 message \ud800',
      fields: LETTER,
      scope: '@root',
      attempt: 1,
      index: 3,
      dedupe: 'x',
    }
    const head = { seq: 4, ts: '2024-01-02T03:04:05.678Z', level: 'warn', scope: '@root', attempt: 1 }
    expect(logLineText(line).endsWith(`,"fields":${LETTER}}`)).toBe(true)
    expect(JSON.parse(logLineText({ ...line, fields: undefined }))).toEqual({
      ...head,
      message: line.message,
    })
  })
})

describe('events', () => {
  test('show the exact text of their data, and no field that does not apply', () => {
    expect(eventText(anEvent({ data: LETTER })).endsWith(`,"data":${LETTER}}`)).toBe(true)
    expect(JSON.parse(eventText(anEvent()))).toEqual({
      id: 'evt_1',
      name: 'order/created',
      source: 'api',
      receivedAt: '2024-01-02T03:04:05.678Z',
      woke: 0,
      triggered: [],
    })
    expect(JSON.parse(eventText(anEvent({ app: 'shop', data: 'null' })))).toMatchObject({
      app: 'shop',
      data: null,
    })
  })
})

describe('the registry', () => {
  const retry = { maxAttempts: 5, initialMs: 1000, factor: 2, maxMs: 300_000, jitter: 0.2 }
  const workflow: ListedWorkflow = {
    schedules: [],
    namespace: 'default',
    app: 'shop',
    name: 'checkout',
    triggers: [{ event: 'order/created' }],
    retry,
    onFailure: false,
    updatedAt: T,
  }

  test('a workflow', () => {
    expect(plain(presentWorkflow({ ...workflow, invokeTimeoutMs: 5 }))).toEqual({
      name: 'checkout',
      app: 'shop',
      retry,
      triggers: [{ event: 'order/created' }],
      scheduled: false,
      schedules: [],
      onFailure: false,
      updatedAt: '2024-01-02T03:04:05.678Z',
    })
  })

  test('a workflow with a cron trigger and flow control', () => {
    const flowControl = { concurrency: [{ limit: 3, scope: 'app' as const }] }
    const schedule = { cron: '* * * * *', timezone: 'UTC', nextRunAt: T }
    const triggers = [{ cron: '* * * * *' }]
    const shown = plain(presentWorkflow({ ...workflow, triggers, flowControl, schedules: [schedule] }))
    const nextRunAt = '2024-01-02T03:04:05.678Z'
    expect(shown).toMatchObject({ scheduled: true, flowControl, schedules: [{ ...schedule, nextRunAt }] })
    const ran = presentWorkflow({
      ...workflow,
      schedules: [{ ...schedule, lastRunAt: T, lastRunId: 'run_1' }],
    })
    expect(ran.schedules).toEqual([{ ...schedule, nextRunAt, lastRunAt: nextRunAt, lastRunId: 'run_1' }])
  })

  test('a runner', () => {
    const runner = { namespace: 'default', app: 'shop', runnerId: 'r', url: 'http://r', workflows: ['w'] }
    expect(plain(presentRunner({ ...runner, lastSeenAt: T, live: false }, { room: undefined }))).toEqual({
      runnerId: 'r',
      app: 'shop',
      url: 'http://r',
      lastSeenAt: '2024-01-02T03:04:05.678Z',
      live: false,
      workflows: [{ name: 'w' }],
      inFlight: 0,
      passesPerMin: 0,
      failures: 0,
    })
    const told = { framework: 'hono', runtime: 'node', sdkName: 's', version: '1', region: 'eu' }
    const key = { keyFingerprint: 'ab', keyMatches: false }
    expect(plain(presentRunner({ ...runner, ...told, ...key, lastSeenAt: T, live: true }, { room: 3 }))).toMatchObject({
      ...told,
      ...key,
    })
  })
})
