import Fastify from 'fastify'
import pino from 'pino'
import { describe, expect, test } from 'vitest'
import { refusal } from '../../../../../test/kit/http/requests.ts'
import { EngineError, ERROR_CODES, type ErrorCode } from '../../domain/model/errors.ts'
import { sendProblem } from './problem.ts'

/** The answer to an error that a route throws, and what is logged. */
async function answerTo(error: unknown, level = 'silent') {
  const logged: Record<string, unknown>[] = []
  const log = pino({ level }, { write: line => logged.push(JSON.parse(line)) })
  const app = Fastify()
  app.setErrorHandler((thrown, request, reply) => sendProblem(thrown, request, reply, log))
  app.post('/events', () => Promise.reject(error))
  return { response: await app.inject({ method: 'POST', url: '/events' }), logged }
}

const STATUS_OF: Record<ErrorCode, number> = {
  invalid_request: 400,
  invalid_json: 400,
  invalid_cursor: 400,
  protocol_mismatch: 400,
  payload_too_large: 413,
  unsupported_media_type: 415,
  method_not_allowed: 405,
  unauthorized: 401,
  forbidden: 403,
  namespace_suspended: 403,
  not_found: 404,
  step_not_found: 404,
  conflict: 409,
  run_terminal: 409,
  run_not_paused: 409,
  run_not_finished: 409,
  delivery_in_flight: 409,
  slug_taken: 409,
  already_running: 409,
  callback_used: 409,
  run_ended: 409,
  rejected: 409,
  gone: 410,
  rate_limited: 429,
  overloaded: 503,
  unavailable: 503,
  internal: 500,
}

describe('error bodies', () => {
  test.each(Object.keys(ERROR_CODES) as ErrorCode[])('%s', async code => {
    const { response } = await answerTo(new EngineError(code, 'because'))
    expect(refusal(response)).toBe(`${STATUS_OF[code]} ${code}`)
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(response.headers['retry-after']).toBe([429, 503].includes(response.statusCode) ? '1' : undefined)
    expect(response.headers['www-authenticate']).toBe(response.statusCode === 401 ? 'Bearer' : undefined)
  })

  test('carry message and details', async () => {
    const { response } = await answerTo(new EngineError('conflict', 'because', { details: { a: 1 } }))
    const { error } = response.json()
    expect(error).toEqual({
      code: 'conflict',
      message: 'because',
      details: { a: 1 },
      requestId: response.headers['x-request-id'],
    })
  })

  test('without details have no member of that name', async () => {
    const { response } = await answerTo(new EngineError('conflict', 'because'))
    expect(Object.keys(response.json().error)).toEqual(['code', 'message', 'requestId'])
  })
})

describe('an unexpected error', () => {
  const secret = 'SELECT * FROM secrets'
  const sneaky = Object.assign(new Error(secret), { statusCode: 418, code: 'SQLITE_BUSY' })

  test.each<[string, unknown]>([
    ['an error', new Error(secret)],
    ['an error with a status of its own', sneaky],
    ['an internal error', new EngineError('internal', secret, { details: { secret } })],
    ['a string', secret],
    ['nothing', undefined],
  ])('%s is 500 and leaks nothing', async (_, error) => {
    const { response } = await answerTo(error)
    expect(refusal(response)).toBe('500 internal')
    expect(response.body).not.toContain('SELECT')
  })

  test('is logged with its stack and cause under the request id', async () => {
    const cause = new Error('disk gone')
    const { response, logged } = await answerTo(new Error(secret, { cause }), 'error')
    expect(logged).toHaveLength(1)
    expect(logged[0]).toMatchObject({
      level: 50,
      method: 'POST',
      route: '/events',
      requestId: response.headers['x-request-id'],
    })
    const stack = String((logged[0]?.err as { stack?: string } | undefined)?.stack)
    expect(stack).toContain(secret)
    expect(stack).toContain('problem.test.ts')
    expect(stack).toContain('disk gone')
  })
})

describe('the log of refusals', () => {
  test.each<[ErrorCode, number[]]>([
    ['unavailable', [40]],
    ['overloaded', []],
    ['not_found', []],
  ])('%s at level info: %j', async (code, levels) => {
    const { logged } = await answerTo(new EngineError(code, 'because'), 'info')
    expect(logged.map(line => line.level)).toEqual(levels)
  })

  test('an overload is logged at level debug, with its stack', async () => {
    const { logged } = await answerTo(new EngineError('overloaded', 'because'), 'debug')
    expect(logged.find(line => line.code === 'overloaded')).toHaveProperty('err.stack')
  })
})
