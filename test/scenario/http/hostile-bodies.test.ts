// Hostile bodies: each is refused with a 4xx that says why, or accepted if it is in fact valid; never a 500.

import { errorsOf, type Operation, operationList, operations } from '@perdure/protocol/operations'
import { Compile } from 'typebox/schema'
import { describe, expect, test } from 'vitest'
import { Attacked, expectEither, expectRefusal, JSON_TYPE } from '../../kit/http/attack.ts'
import { forgeries, HOSTILE_MEMBERS, HOSTILE_VALUES, NO_OBJECTS } from '../../kit/http/hostile.ts'
import { isNight } from '../../part.ts'

const attacked = await Attacked.open()
const all = operationList
const writing = all.filter(({ method, rawBody }) => method !== 'GET' && !rawBody)
const isList = ({ path }: Operation) => path === operations.sendEvents.path
/** Operations that take no body or an object. */
const ofObjects = writing.filter(operation => !isList(operation))
/** A callback takes any JSON, and the members of new limits are names chosen by the caller. */
const OWN_MEMBERS: readonly string[] = [operations.completeCallback.path, operations.setRunBudget.path]
const withMembers = ofObjects.filter(({ path }) => !OWN_MEMBERS.includes(path))
const raw = all.filter(({ rawBody }) => rawBody)
/** Sizes over the limits of operations that take more than one MiB. */
const OVER_MIB: Record<string, number> = { [operations.sendEvents.path]: 9, [operations.register.path]: 5 }
/** Whether the i-th value is tried in the j-th place: by day every fourth is, so that each place and each value gets some. */
const isTried = (i: number, j: number) => isNight || (i + j) % 4 === 0

describe('bodies', () => {
  /** The valid body of the first example. Without run ids, it does not fork anything by chance. */
  const good = ({ examples }: Operation) => (examples?.[0]?.body ?? {}) as Record<string, unknown>

  test.each(writing)('$id: bodies that are no JSON object', async operation => {
    for (const body of NO_OBJECTS) {
      const answer = await attacked.attack(operation, { body })
      if (operation.body && !(isList(operation) && body === '[]')) expectRefusal(answer, errorsOf(operation))
      else expectEither(answer, operation)
    }
  })

  test.each(ofObjects)('$id: every wrong value in every member', async operation => {
    const schema = operation.body?.schema as { properties?: Record<string, unknown> } | undefined
    const check = schema && Compile(schema)
    const start = writing.indexOf(operation)
    for (const [j, name] of Object.keys(schema?.properties ?? { unknown: {} }).entries()) {
      for (const value of HOSTILE_VALUES.filter((_, i) => isTried(i, start + j))) {
        const body = { ...good(operation), [name]: value }
        const answer = await attacked.attack(operation, { body: JSON.stringify(body) })
        if (check && !check.Check(body)) expectRefusal(answer, errorsOf(operation))
        else expectEither(answer, operation)
      }
    }
    for (const member of HOSTILE_MEMBERS) {
      const rest = JSON.stringify(good(operation)).slice(1)
      const body = rest === '}' ? `{${member}}` : `{${member},${rest}`
      expectEither(await attacked.attack(operation, { body }), operation)
    }
    expect(({} as { admin?: unknown }).admin).toBeUndefined()
  })

  test.each(withMembers)(
    '$id: an unknown member is refused by name, where the operation does not take any',
    async operation => {
      const answer = await attacked.attack(operation, {
        body: JSON.stringify({ ...good(operation), dedupeId: undefined, unheardOf: 1 }),
      })
      if (operation.body?.anyMembers) {
        expect(answer.status, answer.text).toBe(operation.reply.status)
        expect(answer.json).toMatchObject({ warnings: [expect.stringMatching(/^"unheardOf" is not known here/)] })
      } else {
        expect(expectRefusal(answer, errorsOf(operation))).toBe('invalid_request')
        expect(answer.json).toMatchObject({
          error: { message: expect.stringMatching(/^"unheardOf" is not known here/), details: { field: 'unheardOf' } },
        })
      }
    },
  )

  test('sendEvents: every wrong value in the place of an event', async () => {
    const events = HOSTILE_VALUES.map(value => ({ name: 'hostile', app: value }))
    for (const list of [HOSTILE_VALUES, events]) {
      const answer = await attacked.attack(operations.sendEvents, { body: JSON.stringify(list) })
      expect(answer.status, answer.text).toBe(200)
      expect(answer.json).toHaveLength(list.length)
    }
  })

  test('register: wrong values in every part of a definition', async () => {
    const key = 'event.data.id'
    const definition = {
      name: 'fulfil-order',
      triggers: [{ event: 'order/*', if: 'event.data.total > 100' }, { cron: '0 9 * * 1-5' }],
      retry: { maxAttempts: 3, initialMs: 1000, factor: 2, maxMs: 60_000, jitter: 0.2 },
      onFailure: true,
      concurrency: [{ limit: 5, key, scope: 'workflow' }],
      throttle: { limit: 10, period: '1m', burst: 2, key },
      rateLimit: { limit: 100, period: '1h', key },
      singleton: { mode: 'skip', key },
      idempotency: { key, ttl: '24h' },
      priority: 'event.data.total',
      timeouts: { queue: '1h', run: '2h', invoke: '5m' },
      cancelOn: [
        { event: 'order/cancelled', if: 'async.data.id == event.data.id', match: 'data.id', timeout: '1h' },
        { event: 'shop/closed', match: { 'data.shop': 7 } },
      ],
    }
    const register = (workflow: unknown) => {
      const body = JSON.stringify({ app: 'forged', url: 'http://127.0.0.1:9/', workflows: [workflow] })
      return attacked.attack(operations.register, { body })
    }
    expect((await register(definition)).text).toContain('"ok":true')
    for (const [i, value] of HOSTILE_VALUES.entries()) {
      for (const [j, forged] of forgeries(definition, value).entries()) {
        if (isTried(i, j)) expectEither(await register(forged), operations.register)
      }
    }
  })

  test.each(writing)('$id: other content types and encodings', async operation => {
    const body = JSON.stringify(good(operation))
    const types = [
      'text/plain',
      'application/xml',
      'application/jsonx',
      'multipart/form-data',
      'a',
      '/',
      'x'.repeat(4000),
    ]
    const start = writing.indexOf(operation)
    for (const type of types.filter((_, i) => isTried(i, start))) {
      const answer = await attacked.attack(operation, { body, headers: { 'content-type': type } })
      expect(expectRefusal(answer, errorsOf(operation)), type).toBe('unsupported_media_type')
    }
    for (const encoding of ['gzip', 'br', 'x', 'identity, gzip'].filter((_, i) => isTried(i, start))) {
      const answer = await attacked.attack(operation, {
        body,
        headers: { ...JSON_TYPE, 'content-encoding': encoding },
      })
      expect(expectRefusal(answer, errorsOf(operation)), encoding).toBe('unsupported_media_type')
    }
  })

  test.each(writing)('$id: bodies over the limit', async operation => {
    const mib = OVER_MIB[operation.path] ?? 2
    const answer = await attacked.attack(operation, { body: `{"x":"${'y'.repeat(mib * 1024 * 1024)}"}` })
    expect(expectRefusal(answer, errorsOf(operation))).toBe('payload_too_large')
  })
})

describe('raw bodies', () => {
  test.each(raw)('$id: any bytes of any type', async operation => {
    for (const body of [...NO_OBJECTS, 'x'.repeat(2 * 1024 * 1024)]) {
      for (const type of ['application/json', 'text/plain', 'a', 'application/x-www-form-urlencoded']) {
        expectRefusal(
          await attacked.attack(operation, { body, headers: { 'content-type': type } }),
          errorsOf(operation),
        )
      }
    }
  })
})

test('after all that the engine still works', async () => {
  expect(attacked.attacks).toBeGreaterThan(150)
  await attacked.greet()
  expect((await attacked.api.get('/readyz')).status).toBe(200)
})
