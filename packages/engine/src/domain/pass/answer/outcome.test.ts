// Reading a runner's answer (docs/wire-protocol.md#answer): nothing in it is trusted, and payloads are kept as they came.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { given } from '../../testkit/given.testkit.ts'
import { run, workflow } from '../../testkit/nouns.testkit.ts'
import { JSON_DEPTH_MAX } from '../../text/json-text.ts'
import type { PassOpcode } from '../opcodes/opcode.ts'
import { type Outcome, readAnswer, responseTooLarge } from './outcome.ts'

/** Texts that JSON.parse and JSON.stringify would change. */
const LETTERS = [
  '12345678901234567890',
  '1.0',
  '1e3',
  '-0',
  '"\\u0041\\/\\u0000\\ud800"',
  '{"b":1,"a":2,"b":3}',
  '{"__proto__":{"x":1}}',
  '[1 ,\n2\t]',
  'null',
  '0.1000',
]

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
const opcodesOf = (outcome: Outcome): PassOpcode[] => (outcome.kind === 'opcodes' ? outcome.opcodes : [])
const codeOf = (outcome: Outcome) => (outcome.kind === 'rejected' ? outcome.error.code : outcome.kind)
const opcodes = (...texts: string[]) => readAnswer(206, `{"opcodes":[${texts.join(',')}],"logs":[]}`)

describe('a 200', () => {
  it.each(LETTERS)('keeps %s to the letter', text => {
    const answer = readAnswer(200, ` { "logs" : [] , "data" : ${text} } `)
    expect(answer).toEqual({ kind: 'returned', data: text, logs: [] })
  })

  it.each(['', 'oops', '[1]', '"text"', 'null', '{"data":1'])(
    'with the unreadable body %s is a transport failure',
    body => {
      expect(readAnswer(200, body).kind).toBe('transportFailed')
    },
  )
})

describe('a 206', () => {
  it.each(LETTERS)('keeps the data %s of a step to the letter', text => {
    const answer = opcodes(`{"op":"StepRun","id":"a","name":"a","data":${text}}`)
    expect(opcodesOf(answer)).toEqual([{ op: 'StepRun', id: 'a', name: 'a', data: text }])
  })

  it('keeps the payloads of emits, webhooks and children to the letter', () => {
    const answer = opcodes(
      '{"op":"Emit","id":"a","name":"a","eventName":"e","data":1.0}',
      '{"op":"Webhook","id":"b","name":"b","webhookUrl":"http://x.test","data":2.0}',
      '{"op":"RunWorkflow","id":"c","name":"c","childName":"w","childData":3.0}',
    )
    expect(opcodesOf(answer).map(opcode => opcode.data)).toEqual(['1.0', '2.0', '3.0'])
  })

  it('gives a child no input but its childData: an unknown field named data is ignored', () => {
    const answer = opcodes('{"op":"RunWorkflow","id":"c","name":"c","childName":"w","data":null}')
    const then = given(run()).registered(workflow('w')).when(answer)
    expect(then.created).not.toHaveProperty('input')
  })

  const op = (op: string, fields: object) => JSON.stringify({ op, id: 'a', name: 'a', ...fields })
  it.each([
    ['"Sleep"', '/opcodes/1 must be an object'],
    [
      op('Jump', {}),
      '/opcodes/1/op must be one of StepRun, StepLimit, Sleep, SleepUntil, WaitForEvent, WaitForSignal, ',
    ],
    [op('Sleep', {}), '/opcodes/1 must have required properties sleepMs'],
    [op('Sleep', { sleepMs: -1 }), '/opcodes/1/sleepMs must be >= 0'],
    [op('WaitForEvent', { eventName: 'e', timeoutMs: 'soon' }), '/opcodes/1/timeoutMs must be number'],
    [op('WaitForEvent', { eventName: 'e', if: 'x'.repeat(4097) }), '/opcodes/1/if must not have more than 4096'],
    [op('RunWorkflow', { childName: '' }), '/opcodes/1/childName must not have fewer than 1 characters'],
    [op('StepRun', { error: 'no' }), '/opcodes/1/error must be object'],
    [op('Emit', { id: 'x'.repeat(257), eventName: 'e' }), '/opcodes/1/id must not have more than 256 characters'],
  ])('that is invalid for its opcode says where and what is allowed (%#)', (opcode, problem) => {
    const answer = opcodes('{"op":"StepRun","id":"b","name":"b"}', opcode)
    expect(answer).toMatchObject({ error: { message: expect.stringContaining(problem) } })
  })

  it('takes null for what an opcode does not have, but for a payload', () => {
    const step = '{"op":"StepRun","id":"a","name":"a","data":null,"error":null,"retriable":null,"retryAfterMs":null}'
    expect(opcodesOf(opcodes(step))).toEqual([{ op: 'StepRun', id: 'a', name: 'a', data: 'null' }])
    expect(codeOf(opcodes('{"op":"Sleep","id":"a","name":"a","sleepMs":null}'))).toBe('invalid_response')
  })

  it('has a retry policy for a failed step only where both sides know that', () => {
    const failed = (retry: unknown) =>
      JSON.stringify({ opcodes: [{ op: 'StepRun', id: 'a', name: 'a', error: { message: 'no' }, retry }], logs: [] })
    const negotiated = {
      stepPolicy: true,
      waitOrder: false,
      cleanup: true,
      budgets: true,
      attributes: false,
      continueAs: false,
      endWithSteps: false,
    }
    expect(readAnswer(206, failed({ maxAttempts: 2 }), { negotiated })).toMatchObject({
      opcodes: [{ retry: { maxAttempts: 2 } }],
    })
    expect(codeOf(readAnswer(206, failed({ maxAttempts: 0 }), { negotiated }))).toBe('invalid_response')
    expect(opcodesOf(readAnswer(206, failed({ maxAttempts: 0 })))[0]).not.toHaveProperty('retry')
  })

  it('in the shape of version 0, a bare array, is unreadable', () => {
    expect(readAnswer(206, '[]').kind).toBe('transportFailed')
  })
})

describe('an answer that nests deep', () => {
  it('is kept when its payload has 200 levels', () => {
    const payload = nested(JSON_DEPTH_MAX)
    expect(readAnswer(200, `{"data":${payload}}`)).toMatchObject({ kind: 'returned', data: payload })
    const step = opcodes(`{"op":"StepRun","id":"a","name":"a","data":${payload}}`)
    expect(opcodesOf(step)[0]?.data).toBe(payload)
  })

  it('is invalid with one more', () => {
    const payload = nested(JSON_DEPTH_MAX + 1)
    expect(codeOf(readAnswer(200, `{"data":${payload}}`))).toBe('invalid_response')
    expect(codeOf(opcodes(`{"op":"StepRun","id":"a","name":"a","data":${payload}}`))).toBe('invalid_response')
  })

  it('may do so in the fields of its log lines', () => {
    for (const depth of [JSON_DEPTH_MAX, 100_000]) {
      const fields = `{"a":${nested(depth - 1)}}`
      const logs = `[{"level":"info","message":"","scope":"@root","index":0,"fields":${fields}}]`
      expect(readAnswer(200, `{"data":1,"logs":${logs}}`)).toMatchObject({ data: '1', logs: [{ fields }] })
      expect(readAnswer(206, `{"opcodes":[],"logs":${logs}}`)).toMatchObject({
        kind: 'opcodes',
        logs: [{ fields }],
      })
    }
  })

  it('is refused without running out of stack, however deep', () => {
    expect(codeOf(readAnswer(200, `{"data":${nested(100_000)}}`))).toBe('invalid_response')
  })
})

describe('a 4xx', () => {
  it.each([400, 404, 409, 422, 429, 499])('%i fails the run: runner_rejected', status => {
    expect(readAnswer(status, '{"error":{"message":"no"}}')).toEqual({
      kind: 'rejected',
      error: { message: 'no', code: 'runner_rejected' },
      logs: [],
    })
  })

  it.each(['step_failed', 'handler_failed', 'nondeterministic'])('may have the code %s, and name a step', code => {
    const error = { message: 'no', stack: 'at x', code, stepName: 'charge' }
    expect(readAnswer(400, JSON.stringify({ error }))).toMatchObject({ kind: 'rejected', error })
  })

  it.each(['timeout', 'card_declined', 7, null])('has no other code: %j', code => {
    const error = { message: 'no', code, stepName: 'charge' }
    const rejected = { message: 'no', code: 'runner_rejected' }
    expect(readAnswer(400, JSON.stringify({ error }))).toMatchObject({ error: rejected })
  })

  it.each(['', ' \n', '{}', '{ }', 'null', '[]', '""', '{"error":null}', '{"error":{}}', '{"logs":[]}'])(
    'says its status when all it says is %j',
    body => {
      expect(readAnswer(404, body)).toMatchObject({ error: { message: 'The runner answered 404.' } })
    },
  )

  it('of another server at the address names the address and the remedy, and has the text of the page', () => {
    const page = '<html><head><title>Error</title></head><body><pre>Cannot POST /api</pre></body></html>'
    const from = { url: 'http://shop:3000/api' }
    const message =
      'http://shop:3000/api answered 404: Error Cannot POST /api. Check the path of the url that the runner registers.'
    expect(readAnswer(404, page, from)).toMatchObject({ error: { message, code: 'runner_rejected' } })
    expect(readAnswer(404, page, { url: 'conn://r1' })).toMatchObject({
      error: { message: 'The runner answered 404: Error Cannot POST /api.' },
    })
    expect(readAnswer(302, '', from)).toMatchObject({
      error: {
        message: expect.stringMatching(/answered 302\. The engine does not follow redirects/),
        code: 'invalid_response',
      },
    })
    expect(readAnswer(200, page, from)).toMatchObject({
      error: { message: expect.stringMatching(/answered 200: Error Cannot POST \/api\. That is not a JSON object\.$/) },
    })
  })

  it('is cut between characters, after 200 of them', () => {
    expect(readAnswer(400, `a${'😀'.repeat(300)}`)).toMatchObject({
      error: { message: `The runner answered 400: a${'😀'.repeat(199)}….` },
    })
  })

  it('has the rest of its body as its error, without the log lines', () => {
    const body = (rest: string) =>
      `{${rest},"logs":[{"level":"info","message":"","scope":"@root","index":0,"fields":{"token":"x"}}]}`
    expect(readAnswer(422, body('"detail":1.50'))).toMatchObject({
      error: { message: 'The runner answered 422: {"detail":1.50}.' },
    })
    const deep = nested(100_000)
    expect(readAnswer(422, body(`"detail":${deep}`))).toMatchObject({ kind: 'rejected' })
  })
})

describe('a 5xx', () => {
  it.each([500, 502, 503, 599])('%i is a transport failure', status => {
    expect(readAnswer(status, '').kind).toBe('transportFailed')
  })

  it.each([
    ['an error text', '{"error":"boom"}', 'boom'],
    ["a proxy's page", '  <h1>Bad gateway</h1> ', 'Bad gateway'],
    [
      'an error that is a sentence',
      '{"error":"Names must not have control characters."}',
      'Names must not have control characters',
    ],
  ])('describes %s', (_, body, error) => {
    const message = `The runner answered 500: ${error}.`
    const unreachable = { message, code: 'runner_unreachable' }
    expect(readAnswer(500, body)).toMatchObject({ kind: 'transportFailed', error: unreachable })
  })

  it('with an error object is a handler that threw, with its error', () => {
    const error = { message: 'boom', name: 'TypeError', stack: 'at x' }
    expect(readAnswer(500, JSON.stringify({ error: { ...error, code: 7, later: true } }))).toEqual({
      kind: 'transportFailed',
      error: { ...error, code: 'handler_failed' },
      logs: [],
    })
  })

  it('takes no more than the beginning of a long page', () => {
    const answer = readAnswer(500, 'x'.repeat(10_000))
    expect(answer.kind === 'transportFailed' && answer.error.message.length).toBeLessThan(600)
  })
})

it.each([100, 201, 204, 301, 304])('the status %i means nothing: invalid_response', status => {
  expect(codeOf(readAnswer(status, '{"data":1}'))).toBe('invalid_response')
})

it('an answer over the cap is response_too_large', () => {
  expect(responseTooLarge(1_048_576)).toEqual({
    kind: 'rejected',
    error: { message: "The runner's answer is larger than 1048576 bytes.", code: 'response_too_large' },
    logs: [],
  })
})

it('no body whatsoever makes reading fail', () => {
  const body = fc.oneof(
    fc.string(),
    fc.json(),
    fc.json().map(data => `{"data":${data},"opcodes":${data}}`),
  )
  const status = fc.constantFrom(200, 206, 204, 302, 404, 500)
  fc.assert(
    fc.property(status, body, (status, body) => {
      expect(readAnswer(status, body).logs).toBeInstanceOf(Array)
    }),
  )
})
