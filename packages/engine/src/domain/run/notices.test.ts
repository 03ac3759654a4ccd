// Deliveries that notify endpoints about a run (docs/webhooks.md#what-endpoints-receive).

import { describe, expect, it } from 'vitest'
import { given, givenLoaded, type Then } from '../testkit/given.testkit.ts'
import {
  brokeOff,
  endpoint,
  NOW,
  rejected,
  reported,
  returned,
  run,
  threw,
  workflow,
} from '../testkit/nouns.testkit.ts'
import { RESULT_BYTES_MAX } from '../view/run-end.ts'

const deliveries = (then: Then) => then.changes('delivery.created').map(({ delivery }) => delivery)
const kinds = (then: Then) => deliveries(then).map(({ eventKind }) => eventKind)
const payloads = (then: Then) => deliveries(then).map(({ payload }) => JSON.parse(payload ?? 'null'))
const all = endpoint('whe_all')
const oneAttempt = workflow('order', {
  retry: { maxAttempts: 1, initialMs: 1, factor: 1, maxMs: 1, jitter: 0 },
})

describe('the end of a run', () => {
  it.each([
    ['run.succeeded', given(run()).subscribed(all).when(returned('1'))],
    ['run.failed', given(run()).subscribed(all).when(rejected)],
    [
      'run.failed',
      given(run({ transportTries: 7 }))
        .subscribed(all)
        .when(brokeOff),
    ],
    ['run.cancelled', givenLoaded(run()).subscribed(all).whenCancelled()],
  ])('is told as %s, in the same decision', (kind, then) => {
    expect(kinds(then)).toEqual([kind])
    expect(deliveries(then)[0]).toMatchObject({
      endpointId: 'whe_all',
      url: all.url,
      app: then.run.app,
      sourceRunId: then.run.id,
      status: 'pending',
      attemptCount: 0,
      maxAttempts: 8,
      availableAt: NOW,
    })
    const [payload] = payloads(then)
    expect(payload).toMatchObject({ type: kind, timestamp: new Date(NOW).toISOString() })
    expect(payload.data.run).toMatchObject({
      id: then.run.id,
      status: then.run.status,
      finishedAt: payload.timestamp,
    })
  })

  it('leaves out a result above 64 KiB, and says so', () => {
    const text = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2))
    const [fits] = payloads(
      given(run())
        .subscribed(all)
        .when(returned(text(RESULT_BYTES_MAX))),
    )
    expect(fits.data.run.result).toHaveLength(RESULT_BYTES_MAX - 2)
    expect(fits.data.run).not.toHaveProperty('resultOmitted')
    const [over] = payloads(
      given(run())
        .subscribed(all)
        .when(returned(text(RESULT_BYTES_MAX + 1))),
    )
    expect(over.data.run).toMatchObject({ status: 'succeeded', resultOmitted: true })
    expect(over.data.run).not.toHaveProperty('result')
  })

  it('leaves out an error above 64 KiB, of a run as of a step, and says so', () => {
    const failed = (message: string) =>
      payloads(
        given(run())
          .registered(oneAttempt)
          .subscribed(all)
          .when(reported(threw('charge', { error: { name: 'Error', message } }))),
      )
    const frame = Buffer.byteLength(JSON.stringify({ name: 'Error', message: '' }))
    const [fits] = failed('x'.repeat(RESULT_BYTES_MAX - frame))
    expect(fits.data.step.error.message).toHaveLength(RESULT_BYTES_MAX - frame)
    expect(fits.data.step).not.toHaveProperty('resultOmitted')
    const [ofStep, ofRun] = failed('ü'.repeat(RESULT_BYTES_MAX / 2))
    expect(ofStep.data.step).toMatchObject({ name: 'charge', attempt: 1, resultOmitted: true })
    expect(ofStep.data.step).not.toHaveProperty('error')
    expect(ofRun.data.run).toMatchObject({ status: 'failed', resultOmitted: true })
    expect(ofRun.data.run).not.toHaveProperty('error')
  })

  it('goes to every endpoint that subscribes to the kind and the app, under an id of its own', () => {
    const then = given(run())
      .subscribed(
        endpoint('whe_a'),
        endpoint('whe_b', { app: run().app }),
        endpoint('whe_otherApp', { app: 'elsewhere' }),
        endpoint('whe_otherKind', { eventKinds: ['run.failed'] }),
        endpoint('whe_off', { enabled: false }),
      )
      .when(returned())
    expect(deliveries(then).map(({ endpointId }) => endpointId)).toEqual(['whe_a', 'whe_b'])
    expect(new Set(deliveries(then).map(({ id }) => id)).size).toBe(2)
  })
})

describe('a step', () => {
  it('that fails for good is sent with its error, before the run that it fails', () => {
    const then = given(run())
      .registered(oneAttempt)
      .subscribed(all)
      .when(reported(threw('charge')))
    expect(kinds(then)).toEqual(['step.failed', 'run.failed'])
    const [payload] = payloads(then)
    expect(payload.data.step).toMatchObject({
      name: 'charge',
      attempt: 1,
      error: { message: expect.any(String) },
    })
    expect(payload.data.run.id).toBe(then.run.id)
  })
})
