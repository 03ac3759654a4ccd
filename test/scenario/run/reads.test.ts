// Reading runs and their steps (docs/http-api/runs.md#runs).

import type { StepRecord } from '@perdure/protocol'
import { OpSchema } from '@perdure/protocol/schema'
import { describe, expect, test } from 'vitest'
import { flow, type Handler, returned, run, scenario, sleep, step, stepId, unique, wait } from '../../kit/index.ts'

const { engine } = await scenario({
  realTime: true,
  env: { ENGINE_WEBHOOK_ALLOW_PRIVATE: '1', ENGINE_WEBHOOK_SCHEDULE: '1ms' },
})
const { api } = engine
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

async function workflow(handler: Handler) {
  const name = unique('workflow')
  const runner = await engine.runner({ workflows: { [name]: handler } })
  return { name, app: runner.app, send: (data?: unknown) => api.send({ name, app: runner.app, data }) }
}

describe('GET /runs/{id}', () => {
  test('a run that succeeded, field by field', async () => {
    const { send, name, app } = await workflow(flow([run('a')], () => ({ done: true })))
    const { runId, eventId } = await send({ n: 1 })
    await api.succeeded(runId)
    const found = await api.run(runId)
    expect(found).toEqual({
      id: runId,
      workflow: name,
      app,
      status: 'succeeded',
      triggerKind: 'event',
      eventName: name,
      eventId,
      attempt: 1,
      createdAt: TIME,
      startedAt: TIME,
      finishedAt: TIME,
      durationMs: expect.any(Number),
      input: { n: 1 },
      result: { done: true },
    })
    const ms = (time?: string) => Date.parse(time as string)
    expect(found.durationMs).toBe(ms(found.finishedAt) - ms(found.startedAt))
    expect(ms(found.startedAt)).toBeGreaterThanOrEqual(ms(found.createdAt))
  })

  test('a waiting run says for what; fields that do not apply are absent', async () => {
    const event = unique('never')
    const { send } = await workflow(flow([wait('w', event, 60_000)]))
    const { runId } = await send()
    const found = await api.reaches(runId, 'waiting')
    expect(found).toMatchObject({
      currentStepName: 'w',
      waitingFor: { kind: 'event', stepName: 'w', eventName: event, until: TIME },
    })
    for (const absent of ['finishedAt', 'durationMs', 'error', 'result', 'input', 'runner', 'replayOf', 'cron']) {
      expect(found).not.toHaveProperty(absent)
    }
  })
})

describe('GET /runs/{id}/steps', () => {
  test("every opcode's record, in execution order", async () => {
    const [event, kid] = [unique('event'), unique('kid')]
    await engine.runner({ workflows: { [kid]: () => returned('grown') } })
    const { runId: awaitedRunId } = await api.send({ name: kid })
    await api.succeeded(awaitedRunId)
    const { send } = await workflow(
      flow([
        run('a', () => 1),
        sleep('b', 5),
        step('SleepUntil', 'c', { sleepUntilMs: 1000 }),
        step('Emit', 'd', { eventName: event }),
        wait('e', event),
        step('RunWorkflow', 'f', { childName: kid }),
        step('WaitForCallback', 'h', { timeoutMs: 1 }),
        step('Webhook', 'g', { webhookUrl: 'http://127.0.0.1:9/' }),
        step('WaitForRun', 'i', { runId: awaitedRunId }),
        step('StartRun', 'j', { workflow: kid }),
        step('CancelRun', 'k', { runId: awaitedRunId }),
        step('WaitForSignal', 'l', { signal: 'go', timeoutMs: 1 }),
        step('ReplyToUpdate', 'm', { updateId: 'evt_nobody' }),
      ]),
    )
    const { runId } = await send()
    await api.succeeded(runId)
    const steps = await api.steps(runId)
    const common = (name: string, op: StepRecord['op'], index: number) => ({
      id: stepId(name),
      name,
      op,
      index,
      status: 'succeeded',
      attempt: 1,
      startedAt: TIME,
      finishedAt: TIME,
      durationMs: expect.any(Number),
      pass: expect.any(Number),
      runner: expect.any(String),
    })
    const startedRunId = steps[9]?.startedRunId
    const [emittedEventId, childRunId, deliveryId] = [
      steps[3]?.emittedEventId,
      steps[5]?.childRunId,
      steps[7]?.deliveryId,
    ]
    expect(steps).toEqual([
      { ...common('a', 'StepRun', 0), data: 1 },
      { ...common('b', 'Sleep', 1), wakeAt: TIME, data: null },
      { ...common('c', 'SleepUntil', 2), wakeAt: '1970-01-01T00:00:01.000Z', data: null },
      { ...common('d', 'Emit', 3), eventName: event, emittedEventId, data: expect.anything() },
      {
        ...common('e', 'WaitForEvent', 4),
        eventName: event,
        data: { id: emittedEventId, name: event, receivedAt: TIME },
      },
      { ...common('f', 'RunWorkflow', 5), childRunId, data: 'grown' },
      { ...common('h', 'WaitForCallback', 6), wakeAt: TIME, timedOut: true, data: null },
      { ...common('g', 'Webhook', 7), deliveryId, data: expect.anything() },
      {
        ...common('i', 'WaitForRun', 8),
        awaitedRunId,
        data: { runId: awaitedRunId, status: 'succeeded', result: 'grown' },
      },
      { ...common('j', 'StartRun', 9), startedRunId, data: { runId: startedRunId, existing: false } },
      { ...common('k', 'CancelRun', 10), data: null },
      { ...common('l', 'WaitForSignal', 11), signal: 'go', wakeAt: TIME, timedOut: true, data: null },
      common('m', 'ReplyToUpdate', 12),
    ])
    // Every existing opcode.
    expect(new Set(steps.map(({ op }) => op))).toEqual(new Set(OpSchema.enum))
    expect(emittedEventId).toMatch(/^evt_/)
    expect(childRunId).toMatch(/^run_/)
    expect(deliveryId).toMatch(/^dlv_/)
  })
})
