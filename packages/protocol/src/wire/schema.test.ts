// The wire's schemas accept every documented message, and ignore unknown fields.

import Value from 'typebox/value'
import { describe, expect, it } from 'vitest'
import {
  InvokeRequestSchema,
  OpcodeSchema,
  RegisterRequestSchema,
  RunnerLogLineSchema,
  StepErrorSchema,
} from './schema.ts'
import { ROOT_SCOPE } from './types.ts'
import { CONNECT_SUBPROTOCOL, PROTOCOL_HEADER, PROTOCOL_VERSION, SIGNATURE_HEADER } from './version.ts'

const id = { id: 'ba7816bf', name: 'charge' }

describe('an opcode', () => {
  const opcodes = [
    { op: 'StepRun', ...id, data: { any: [1, null] } },
    { op: 'StepRun', ...id },
    { op: 'StepRun', ...id, error: { message: 'no' }, retriable: false, retryAfterMs: 0 },
    { op: 'StepLimit', ...id, limit: 'openai' },
    { op: 'Sleep', ...id, sleepMs: 0 },
    { op: 'SleepUntil', ...id, sleepUntilMs: -1 },
    { op: 'WaitForEvent', ...id, eventName: 'paid', timeoutMs: 5 },
    { op: 'WaitForEvent', ...id, eventName: 'paid' },
    { op: 'WaitForEvent', ...id, eventName: 'paid', match: 'data.id' },
    { op: 'WaitForEvent', ...id, eventName: 'paid', match: { 'data.id': null } },
    { op: 'WaitForSignal', ...id, signal: 'go', timeoutMs: 5 },
    { op: 'ReplyToUpdate', ...id, updateId: 'evt_1', data: 1 },
    { op: 'WaitForCallback', ...id, timeoutMs: 5 },
    { op: 'WaitForRun', ...id, runId: 'run_1', timeoutMs: 5 },
    { op: 'RunWorkflow', ...id, childName: 'pack', childData: null },
    {
      op: 'StartRun',
      ...id,
      workflow: 'pack',
      data: 7,
      key: 'a',
      ifRunning: 'refuse',
      delayMs: 5,
      attributes: { n: 1 },
    },
    { op: 'CancelRun', ...id, runId: 'run_1' },
    { op: 'Emit', ...id, eventName: 'paid', data: 7 },
    {
      op: 'Emit',
      ...id,
      eventName: 'paid',
      data: [7, null],
      events: [{ eventName: 'paid', delayMs: 5 }, { eventName: 'b' }],
    },
    { op: 'Webhook', ...id, webhookUrl: 'https://x.test', data: {} },
    { op: 'Sleep', ...id, sleepMs: 1, unknown: true },
  ]

  it('of every kind is among them', () => {
    const kinds = OpcodeSchema.anyOf.map(({ properties }) => properties.op.const)
    expect([...new Set(opcodes.map(({ op }) => op))]).toEqual(kinds)
  })

  it.each(opcodes)('passes: %j', opcode => {
    expect(Value.Check(OpcodeSchema, opcode)).toBe(true)
  })

  it.each([
    { op: 'Jump', ...id },
    { op: 'StepLimit', ...id },
    { op: 'Sleep', ...id },
    { op: 'Sleep', ...id, sleepMs: -1 },
    { op: 'Sleep', id: '', name: '', sleepMs: 1 },
    { op: 'StepRun', ...id, error: 'no' },
    { op: 'StepRun', ...id, retryAfterMs: -1 },
    { op: 'WaitForEvent', ...id, eventName: '' },
    { op: 'WaitForEvent', ...id, eventName: 'paid', match: 7 },
    { op: 'WaitForSignal', ...id, signal: 'a b' },
    { op: 'WaitForRun', ...id },
    { op: 'RunWorkflow', ...id },
    { op: 'StartRun', ...id },
    { op: 'StartRun', ...id, workflow: 'pack', ifRunning: 'queue' },
    { op: 'CancelRun', ...id },
    { op: 'Webhook', ...id },
  ])('does not pass: %j', opcode => {
    expect(Value.Check(OpcodeSchema, opcode)).toBe(false)
  })
})

describe("a log line's index", () => {
  it.each([
    [2 ** 31 - 1, true],
    [2 ** 31, false],
    [1e300, false],
    [-1, false],
    [0.5, false],
  ])('%d: %s', (index, passes) => {
    const line = { level: 'info', message: '', scope: '@root', index }
    expect(Value.Check(RunnerLogLineSchema, line)).toBe(passes)
  })
})

describe('a documented message', () => {
  it.each([
    ['a log line', RunnerLogLineSchema, { level: 'info', message: '', scope: '@root', index: 0, tsMs: 1 }],
    ['a step error', StepErrorSchema, { message: '', stack: 'at x' }],
    [
      'an invoke',
      InvokeRequestSchema,
      {
        event: { name: 'order.placed', data: null },
        steps: { a: { data: 1 }, b: { error: { message: 'no' } }, c: { pending: true } },
        ctx: { runId: 'run_1', workflow: 'order', attempt: 1, app: 'shop', runner: '' },
      },
    ],
    [
      'a registration',
      RegisterRequestSchema,
      {
        app: 'shop',
        url: 'http://r.test',
        workflows: [
          { name: 'order' },
          {
            name: 'b',
            triggers: [{ event: 'a.*', if: 'x' }, { cron: '* * * * *' }],
            retry: { maxAttempts: 3 },
          },
          { name: 'c', onFailure: true, concurrency: { limit: 1, key: 'event.data.id' } },
        ],
      },
    ],
  ])('passes: %s', (_, schema, value) => {
    expect(Value.Check(schema, value)).toBe(true)
    expect(Value.Check(schema, { ...value, unknown: true })).toBe(true)
  })
})

it('the wire version is 1, and headers and subprotocol have their documented names', () => {
  expect(PROTOCOL_VERSION).toBe(1)
  expect(PROTOCOL_HEADER).toBe('x-engine-protocol')
  expect(SIGNATURE_HEADER).toBe('x-engine-signature')
  expect(CONNECT_SUBPROTOCOL).toBe('engine.connect.v0')
  expect(ROOT_SCOPE).toBe('@root')
})
