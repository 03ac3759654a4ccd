// Hostile requests to every operation of an engine, and checks of what the engine may answer.

import { API_ERROR_STATUS, type ApiErrorCode } from '@perdure/protocol'
import { errorsOf, type Operation } from '@perdure/protocol/operations'
import { expect } from 'vitest'
import { openEngine } from '../engine/engine-in-process.ts'
import { type Handler, PlainRunner } from '../runner/plain-runner.ts'
import { flow, run } from '../runner/steps.ts'
import { discovered, opcode } from '../runner/wire.ts'
import { within } from '../until.ts'
import type { Answer, Api } from './api.ts'

export interface Attack {
  /** Replaces an id that exists. */
  id?: string
  /** The query, with its question mark. */
  query?: string
  method?: string
  body?: string | Uint8Array
  headers?: Record<string, string>
}

export const JSON_TYPE = { 'content-type': 'application/json' }
const KEY = 'a-secret-key-that-they-have-got'

export class Attacked {
  readonly key = KEY
  readonly url: string
  readonly api: Api
  /** How many hostile requests were sent. */
  attacks = 0
  #ids = { run: '', update: '', asked: '', event: '', endpoint: '', receiver: '', bulk: '', error: '' }

  private constructor(url: string, api: Api) {
    this.url = url
    this.api = api
  }

  /** Opens an engine with a key that the attacker has, one workflow, and one object of every kind that has an id. */
  static async open(): Promise<Attacked> {
    const keys = [{ label: 'ops', namespace: 'default', kind: 'secret', key: KEY }]
    const engine = await openEngine({ env: { ENGINE_API_KEYS: JSON.stringify(keys) } })
    const api = engine.api.as(KEY)
    const runner = await new PlainRunner({
      app: 'plain',
      workflows: { greet: flow([run('say')]), answer, fail },
    }).listen()
    await runner.register(api, { features: ['signals'] })
    const attacked = new Attacked(engine.url, api)
    const { runId } = await api.send({ name: 'answer' })
    const { json: update } = await api.post(`/runs/${runId}/updates/${runId}`)
    Object.assign(attacked.#ids, { asked: runId, update: (update as { updateId: string }).updateId })
    for (let i = 0; i < 3; i++) await attacked.greet()
    attacked.#ids.endpoint = await made(api, '/webhook-endpoints', {
      url: 'https://example.com/',
      eventKinds: ['run.failed'],
    })
    await api.reaches((await api.send({ name: 'fail' })).runId, 'failed')
    attacked.#ids.error = ((await api.get('/errors')).json as { fingerprint: string }[])[0]?.fingerprint ?? ''
    const { json } = await api.post('/bulk', { action: 'cancel', ids: ['run_0'] })
    attacked.#ids.bulk = (json as { bulkId: string }).bulkId
    attacked.#ids.receiver = await made(api, '/webhook-receivers', { eventName: 'greet' })
    return attacked
  }

  /** Runs a workflow from its event to its end. Requests aim at this run, because streams of an ended run end too. */
  async greet(): Promise<void> {
    const { runId, eventId } = await this.api.send({ name: 'greet', targetApp: 'plain', data: {} })
    await this.api.succeeded(runId)
    Object.assign(this.#ids, { run: runId, event: eventId })
  }

  attack(operation: Operation, attack: Attack): Promise<Answer> {
    this.attacks++
    const id = attack.id ?? this.#idFor(operation)
    const path = this.#aimed(operation, attack).replace(/\{\w+\}/g, () => id) + (attack.query ?? '')
    const { body, headers = body === undefined ? {} : JSON_TYPE } = attack
    const answer = this.api.request(attack.method ?? operation.method, path, {
      headers,
      ...(body === undefined ? {} : { body }),
    })
    return within(answer, `an answer to ${operation.method} ${operation.path} ${JSON.stringify(attack).slice(0, 200)}`)
  }

  /** Reads of a workflow aim at the only one. */
  #aimed({ method, path }: Operation, { id }: Attack): string {
    if (method !== 'GET' || id !== undefined) return path
    return path.replace('{app}/{name}', 'plain/greet').replace('{updateId}', this.#ids.update)
  }

  /** The id of something that exists. Nothing is deleted, so every operation has a target until the end. */
  #idFor({ method, path }: Operation): string {
    if (method !== 'DELETE' && path.startsWith('/webhook-endpoints')) return this.#ids.endpoint
    if (method !== 'DELETE' && path.startsWith('/webhook-receivers')) return this.#ids.receiver
    // An ended run has no streams without messages.
    if (/^\/runs\/\{id\}\/(updates|streams)/.test(path)) return this.#ids.asked
    if (path.startsWith('/bulk')) return this.#ids.bulk
    if (path.startsWith('/errors')) return this.#ids.error
    return path.startsWith('/events') || method === 'DELETE' ? this.#ids.event : this.#ids.run
  }
}

/** Answers each update whose name is the id of the run. */
const answer: Handler = ({ ctx, steps }) => {
  const taken = Object.values(steps).filter(entry => !entry.pending)
  const last = taken.at(-1)?.data as { id?: string } | null | undefined
  const name = `${taken.length}`
  const next =
    taken.length % 2 === 0
      ? opcode('WaitForSignal', name, { signal: ctx.runId })
      : opcode('ReplyToUpdate', name, { updateId: last?.id })
  return discovered(Object.values(steps).some(entry => entry.pending) ? [] : [next])
}

const fail: Handler = () => ({ status: 400, body: { error: { message: 'no' }, logs: [] } })

async function made(api: Api, path: string, body: unknown): Promise<string> {
  const { status, text, json } = await api.post(path, body)
  if (status !== 201) throw new Error(`POST ${path} answered ${status} ${text}`)
  return (json as { id: string }).id
}

/** Checks an error answer in full; returns its code. */
export function expectRefusal({ status, json, headers, text }: Answer, known?: readonly ApiErrorCode[]): string {
  expect(status, text).toBeGreaterThanOrEqual(400)
  expect(status, text).toBeLessThan(500)
  expect(headers.get('content-type')).toMatch(/^application\/json/)
  const { error, ...rest } = json as { error: Record<string, unknown> }
  expect(rest).toEqual({})
  const { code, message, requestId, details, ...more } = error
  expect(more).toEqual({})
  // The parser refuses a URL or headers beyond its limits before there is a request.
  if (status === 431) expect(code).toBe('invalid_request')
  else expect(API_ERROR_STATUS[code as ApiErrorCode]).toBe(status)
  expect(message).toMatch(/\S/)
  expect(requestId).toBe(headers.get('x-request-id'))
  if (details !== undefined) expect(details).toEqual(expect.any(Object))
  if (known) expect(known, `${text} is not among the operation's codes`).toContain(code)
  return code as string
}

/** Checks that the answer is a success of the operation, or one of the refusals in its description. */
export function expectEither(answer: Answer, operation: Operation): void {
  const isSuccess = answer.status === operation.reply.status || answer.status === operation.otherwise?.status
  if (!isSuccess) expectRefusal(answer, errorsOf(operation))
}

/** A wait that has ended has a different status. */
function successesOf({ reply, otherwise }: Operation): number[] {
  return otherwise && otherwise.status < 300 ? [reply.status, otherwise.status] : [reply.status]
}

/** Checks for a success or a refusal, depending on whether the input is allowed. */
export function expectVerdict(answer: Answer, operation: Operation, allowed: boolean): void {
  if (allowed) expect(successesOf(operation), answer.text).toContain(answer.status)
  else expectRefusal(answer, errorsOf(operation))
}
