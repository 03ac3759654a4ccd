import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import type { Delivery } from '../model/delivery.ts'
import {
  concludeAttempt,
  DEFAULT_DELIVERY_SCHEDULE_MS,
  deliveryHeaders,
  parseDeliverySchedule,
  type SendResult,
} from './delivery-attempt.ts'

const NOW = 1_700_000_000_000
const MIDDLE = 0.5

const base: Delivery = {
  namespace: 'default',
  id: 'dlv_1',
  app: 'shop',
  url: 'https://partner.example/hook',
  eventKind: 'custom',
  payload: '{"a":1}',
  status: 'delivering',
  attemptCount: 0,
  maxAttempts: 8,
  createdAt: NOW - 1000,
  updatedAt: NOW - 1000,
  fence: 3,
  availableAt: NOW + 15_000,
  leaseOwner: 'engine-1',
}

const answered = (status: number, extra: { retryAfterMs?: number } = {}): SendResult => ({
  kind: 'answered',
  status,
  responseSnippet: 'body',
  durationMs: 12,
  ...extra,
})

/** The delivery and the attempt after the result of a send. */
const given = (patch: Partial<Delivery> = {}) => ({
  when: (result: SendResult, options: { random?: number; scheduleMs?: number[] } = {}) =>
    concludeAttempt({
      delivery: { ...base, ...patch },
      result,
      attemptId: 'att_1',
      now: NOW,
      random: MIDDLE,
      ...options,
    }),
})

const settledFields = ['nextAttemptAt', 'availableAt', 'leaseOwner']

describe('an answer', () => {
  it.each([200, 201, 202, 204, 299])('%i succeeds', status => {
    const { delivery, attempt } = given().when(answered(status))
    expect(delivery).toMatchObject({
      status: 'succeeded',
      attemptCount: 1,
      lastStatusCode: status,
      updatedAt: NOW,
    })
    for (const field of settledFields) expect(delivery).not.toHaveProperty(field)
    expect(attempt).toEqual({
      id: 'att_1',
      deliveryId: 'dlv_1',
      attempt: 1,
      outcome: 'succeeded',
      statusCode: status,
      responseSnippet: 'body',
      durationMs: 12,
      createdAt: NOW,
    })
  })

  it.each([500, 502, 503, 599, 408, 425, 429])('%i is tried again', status => {
    const { delivery, attempt } = given().when(answered(status))
    expect(delivery).toMatchObject({
      status: 'failed',
      attemptCount: 1,
      lastStatusCode: status,
      nextAttemptAt: NOW + 5000,
      availableAt: NOW + 5000,
    })
    expect(delivery).not.toHaveProperty('leaseOwner')
    expect(attempt).toMatchObject({ outcome: 'http_error', statusCode: status, responseSnippet: 'body' })
    expect(attempt).not.toHaveProperty('error')
  })

  it.each([300, 301, 302, 304, 307, 400, 401, 403, 404, 409, 410, 418, 422, 424, 426, 428, 430, 451, 600, 799, 999])(
    '%i is the end',
    status => {
      const { delivery, attempt } = given().when(answered(status, { retryAfterMs: 1000 }))
      expect(delivery).toMatchObject({ status: 'dead', attemptCount: 1, lastStatusCode: status })
      for (const field of settledFields) expect(delivery).not.toHaveProperty(field)
      expect(attempt).toMatchObject({ outcome: 'http_error', statusCode: status })
    },
  )

  it('410 alone says that the endpoint is gone', () => {
    expect([410, 404, 500, 200].map(status => given().when(answered(status)).isGone)).toEqual([
      true,
      false,
      false,
      false,
    ])
  })

  it('keeps everything else of the delivery, its fence too', () => {
    const { status, attemptCount, updatedAt, lastStatusCode, ...rest } = given().when(answered(200)).delivery
    const { availableAt, leaseOwner, ...kept } = base
    expect({ ...rest, status: 'delivering', attemptCount: 0, updatedAt: kept.updatedAt }).toEqual(kept)
    expect([status, attemptCount, updatedAt, lastStatusCode]).toEqual(['succeeded', 1, NOW, 200])
    expect([availableAt, leaseOwner]).toEqual([NOW + 15_000, 'engine-1'])
  })
})

describe('no answer', () => {
  it.each([
    ['timeout', 'timeout'],
    ['connectionError', 'connection_error'],
  ] as const)('%s is tried again', (kind, outcome) => {
    const { delivery, attempt } = given({ lastStatusCode: 500, attemptCount: 1 }).when({
      kind,
      error: 'socket hang up',
      durationMs: 7,
    })
    expect(delivery).toMatchObject({ status: 'failed', attemptCount: 2, nextAttemptAt: NOW + 300_000 })
    expect(delivery, 'the latest attempt has no status').not.toHaveProperty('lastStatusCode')
    expect(attempt).toEqual({
      id: 'att_1',
      deliveryId: 'dlv_1',
      attempt: 2,
      outcome,
      error: 'socket hang up',
      durationMs: 7,
      createdAt: NOW,
    })
  })

  it('an attempt whose engine stopped counts, and is repeated', () => {
    const cutOff = { kind: 'cutOff' } as const
    const { delivery, attempt } = given({ attemptCount: 1 }).when(cutOff)
    expect(delivery).toMatchObject({ status: 'failed', attemptCount: 2, nextAttemptAt: NOW + 300_000 })
    expect(attempt).toMatchObject({
      attempt: 2,
      outcome: 'connection_error',
      error: 'the engine stopped during this attempt',
      durationMs: 0,
    })
    expect(given({ attemptCount: 7 }).when(cutOff).delivery).toMatchObject({ status: 'exhausted' })
  })

  it.each([
    ['an endpoint that is off', 'endpointOff'],
    ['a refused address', 'refusedAddress'],
  ] as const)('%s is skipped, then dead', (_, kind) => {
    const { delivery, attempt } = given().when({ kind, error: 'not called' })
    expect(delivery).toMatchObject({ status: 'dead', attemptCount: 1 })
    for (const field of [...settledFields, 'lastStatusCode']) expect(delivery).not.toHaveProperty(field)
    expect(attempt).toMatchObject({ outcome: 'skipped', error: 'not called', durationMs: 0 })
    expect(attempt).not.toHaveProperty('statusCode')
  })
})

describe('the schedule', () => {
  const delays = (patch: Partial<Delivery>, scheduleMs?: number[]) => {
    const seen: (number | string)[] = []
    let delivery: Delivery = { ...base, ...patch }
    for (let i = 0; i < 50; i++) {
      delivery = given(delivery).when(answered(500), scheduleMs ? { scheduleMs } : {}).delivery
      if (delivery.nextAttemptAt === undefined) return [...seen, delivery.status]
      seen.push(delivery.nextAttemptAt - NOW)
      delivery.status = 'delivering'
    }
    return seen
  }

  it('is 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h: 8 attempts, then exhausted', () => {
    const minute = 60_000
    expect(delays({})).toEqual([
      5000,
      5 * minute,
      30 * minute,
      120 * minute,
      300 * minute,
      600 * minute,
      600 * minute,
      'exhausted',
    ])
    expect(DEFAULT_DELIVERY_SCHEDULE_MS).toHaveLength(7)
  })

  it('starts again with the budget of a redelivery', () => {
    expect(delays({ attemptCount: 3, maxAttempts: 3 + 3 }, [10, 20])).toEqual([10, 20, 'exhausted'])
    expect(delays({ attemptCount: 2, maxAttempts: 6 }, [10, 20, 30])).toEqual([10, 20, 30, 'exhausted'])
  })

  it('holds when it was changed between the attempts', () => {
    expect(delays({ maxAttempts: 5 }, [10, 20])).toEqual([10, 10, 10, 20, 'exhausted'])
    expect(delays({ maxAttempts: 2 }, [10, 20, 30])).toEqual([30, 'exhausted'])
    expect(delays({ maxAttempts: 8 }, [])).toEqual(['exhausted'])
    expect(delays({ maxAttempts: 1 })).toEqual(['exhausted'])
  })

  it('is jittered by 20 % both ways', () => {
    const next = (random: number) => given().when(answered(500), { random }).delivery.nextAttemptAt! - NOW
    expect([next(0), next(0.25), next(0.75)]).toEqual([4000, 4500, 5500])
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), random => {
        const delay = next(random)
        expect(Number.isInteger(delay)).toBe(true)
        expect(delay).toBeGreaterThanOrEqual(4000)
        expect(delay).toBeLessThanOrEqual(6000)
      }),
    )
  })

  it('takes Retry-After as the least', () => {
    const next = (retryAfterMs: number, status = 429) =>
      given().when(answered(status, { retryAfterMs })).delivery.nextAttemptAt! - NOW
    expect([next(0), next(1000), next(60_000), next(60_000, 503)]).toEqual([5000, 5000, 60_000, 60_000])
  })
})

it('refuses a delivery that is not under way', () => {
  expect(() => given({ status: 'succeeded' }).when(answered(200))).toThrow('Invariant broken')
})

describe('parseDeliverySchedule', () => {
  it.each([
    ['5s,5m,30m', [5000, 300_000, 1_800_000]],
    [' 5s , 1h ', [5000, 3_600_000]],
    ['250', [250]],
    ['0,0.5s', [0, 500]],
  ])('%j', (text, delays) => expect(parseDeliverySchedule(text)).toEqual(delays))

  it.each(['', ',', '5s,', '5s;5m', '5 parsecs', '-1s', '5s,x', Array(101).fill('1s').join(',')])('refuses %j', text =>
    expect(parseDeliverySchedule(text)).toBeUndefined(),
  )
})

describe('deliveryHeaders', () => {
  const message = { id: 'dlv_1', body: '{"a":1}', now: 1_700_000_000_999 }
  const unsigned = {
    'content-type': 'application/json',
    'user-agent': 'perdure/webhooks',
    'webhook-id': 'dlv_1',
    'webhook-timestamp': '1700000000',
  }

  it('of a custom send carry no signature', () => {
    expect(deliveryHeaders({ ...message, secrets: [] })).toEqual(unsigned)
  })

  it('carry one signature for each secret, as Standard Webhooks has it', () => {
    const secrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_c2VjcmV0IG51bWJlciB0d28=']
    const [first, second, ...rest] = deliveryHeaders({ ...message, secrets })['webhook-signature']?.split(' ') ?? []
    expect(rest).toEqual([])
    const theirs = secrets.map(secret => new Webhook(secret).sign('dlv_1', new Date(message.now), message.body))
    expect([first, second]).toEqual(theirs)
  })
})
