// The caller of the HTTP interface. It registers runners, posts events and acts on runs. An engine that dies during a
// request leaves the caller without an answer, like a reset connection.

import type { SendEvent, SendEventReply } from '../../../packages/protocol/src/index.ts'
import { isEnded } from '../checks/record.ts'
import type { Witness } from '../checks/witness.ts'
import { apiKey, type EngineHost } from '../core/engine-host.ts'
import { unitOf } from '../core/random.ts'
import type { SimClock } from '../core/sim-clock.ts'
import { type HttpAnswer, inject } from '../core/sim-engine.ts'
import type { Trace } from '../core/trace.ts'
import { ensure } from '../core/violation.ts'
import type { Life } from '../ports/life.ts'
import type { SharedCallback } from './callback-posts.ts'
import type {
  ControlAction,
  ControlCall,
  DirectStart,
  Journal,
  PostedCallback,
  PostedEvent,
  SentSignal,
  Settled,
} from './journal.ts'
import { VENDOR } from './program.ts'
import type { SimRunner } from './runner.ts'

export interface ClientDeps {
  host: EngineHost
  clock: SimClock
  trace: Trace
  journal: Journal
  witness: Witness
  /** The features of runners in addition to those that all have. */
  features: readonly string[]
}

export class Client {
  readonly #deps: ClientDeps
  /** The engines that have not answered yet, one entry per request. */
  readonly #owing = new Set<{ life: Life }>()

  constructor(deps: ClientDeps) {
    this.#deps = deps
  }

  /** Requests that a living engine has not answered yet. */
  get underWay(): number {
    return [...this.#owing].filter(({ life }) => life.alive).length
  }

  /** Registers the runner. A repeated registration is its heartbeat. */
  register(runner: SimRunner): void {
    const { namespace, app, runnerId, url, workflows } = runner.deps
    const registrations = workflows.map(
      ({ name, triggers, retry, onFailure, whenExhausted, invokeTimeoutMs, keeps, spends, singleton, cancelOn }) => ({
        name,
        retry,
        onFailure,
        ...(spends ? { budget: { tokens: 1e6, steps: 1e6 } } : {}),
        ...(keeps === undefined ? {} : { concurrency: { limit: keeps, hold: 'run' } }),
        ...(singleton ? { singleton } : {}),
        ...(cancelOn ? { cancelOn: [{ event: cancelOn }] } : {}),
        ...(triggers ? { triggers } : {}),
        ...(whenExhausted ? { whenExhausted } : {}),
        ...(invokeTimeoutMs === undefined ? {} : { timeouts: { invoke: invokeTimeoutMs } }),
      }),
    )
    const body = {
      app,
      runner: runnerId,
      url,
      protocolVersion: 1,
      features: ['step-policy', 'end-with-steps', 'http-checkpoints', 'callbacks', ...this.#deps.features],
      ...(workflows.some(({ limits }) => limits) ? { limits: { vendor: VENDOR } } : {}),
      workflows: registrations,
    }
    this.#request(namespace, '/register', body, answer => this.#expect(answer, [200, 500], `register ${runnerId}`))
  }

  post(token: string, namespace: string, event: SendEvent): void {
    const { clock, journal, trace, witness } = this.#deps
    const posted: PostedEvent = { token, namespace, event, postedAt: clock.now() }
    journal.events.push(posted)
    trace.add(`client posts ${event.name} ${token}${event.dedupeId ? ` dedupe ${event.dedupeId}` : ''}`)
    const checkWakes = witness.expectWakes(namespace, event.name)
    this.#request(namespace, '/events', event, answer => {
      this.#expect(answer, [202, 500], `event ${token}`)
      if (answer.status !== 202) return
      posted.ackedAt = clock.now()
      posted.reply = answer.body as SendEventReply
      trace.add(`client gets ${token}: ${JSON.stringify(posted.reply)}`)
      checkWakes(posted)
    })
  }

  control(namespace: string, action: ControlAction, runId: string, body?: unknown): void {
    const { clock, journal, trace, witness } = this.#deps
    const call: ControlCall = { namespace, action, runId, body, askedAt: clock.now() }
    journal.controls.push(call)
    trace.add(`client requests ${action} ${runId} ${JSON.stringify(body) ?? ''}`)
    this.#request(namespace, `/runs/${runId}/${action}`, body, answer => {
      this.#expect(answer, [200, 404, 409, 500], `${action} ${runId}`)
      call.answeredAt = clock.now()
      call.status = answer.status
      const { id, error } = answer.body as { id?: string; error?: { code: string } }
      if (answer.status === 200 && id !== undefined) call.answeredRunId = id
      if (error) call.errorCode = error.code
      trace.add(`client gets ${answer.status} of ${action} ${runId}: ${id ?? error?.code}`)
      if (answer.status < 500) witness.controlled(call)
    })
  }

  /** Settles a step by hand. */
  settle(settled: Settled & { namespace: string }, fails: boolean): void {
    const { journal, trace, witness } = this.#deps
    const { token, runId, stepId, namespace } = settled
    journal.settles.push(settled)
    trace.add(`client settles ${runId} ${stepId} ${token}`)
    const end = fails ? { error: { message: token } } : { data: { token } }
    const path = `/runs/${runId}/steps/${stepId}/settle`
    this.#request(namespace, path, { ...end, reason: token }, answer => {
      this.#expect(answer, [200, 404, 409, 500], `settle ${token}`)
      settled.status = answer.status
      trace.add(`client gets ${answer.status} of ${token}`)
      if (answer.status < 500) witness.settled(settled)
    })
  }

  /** Sends a signal to a run. Some are updates. */
  signal(namespace: string, runId: string, { signal, token }: { signal: string; token: string }): void {
    const { clock, journal, trace } = this.#deps
    const sent: SentSignal = { token, runId, signal, isUpdate: unitOf(`update ${token}`) < 0.5 }
    const path = `/runs/${runId}/${sent.isUpdate ? 'updates' : 'signals'}/${signal}`
    journal.signals.push(sent)
    trace.add(`client sends ${signal} ${token} to ${runId}`)
    this.#request(namespace, path, { data: { token } }, answer => {
      this.#expect(answer, [202, 409, 500], `signal ${token}`)
      sent.status = answer.status
      sent.answeredAt = clock.now()
      trace.add(`client gets ${answer.status} of ${token}`)
    })
  }

  /** Starts a run directly. */
  start(started: Omit<DirectStart, 'askedAt'>): void {
    const { clock, journal, trace } = this.#deps
    const { token, namespace, app, workflow, key, ifRunning } = started
    const sent: DirectStart = { ...started, askedAt: clock.now() }
    journal.starts.push(sent)
    trace.add(`client starts ${app}/${workflow} ${token} key ${key} ${ifRunning}`)
    const body = { input: { token }, ...(key === undefined ? {} : { key }), ...(ifRunning ? { ifRunning } : {}) }
    this.#request(namespace, `/workflows/${app}/${workflow}/runs`, body, answer => {
      this.#expect(answer, [200, 201, 404, 409, 500], `start ${token}`)
      const { id, error } = answer.body as { id?: string; error?: { details?: { runId?: string; liveRunId?: string } } }
      sent.status = answer.status
      const runId = id ?? error?.details?.runId ?? error?.details?.liveRunId
      if (runId !== undefined) sent.runId = runId
      trace.add(`client gets ${answer.status} of ${token}: ${runId}`)
    })
  }

  /** Posts to a callback. `wrongUrl`: with an invalid token. */
  callback(token: string, { runId, stepId, url }: SharedCallback, wrongUrl?: string): void {
    const { journal, trace, witness } = this.#deps
    const isLate = isEnded(witness.records.get(runId)?.run)
    const posted: PostedCallback = { token, runId, stepId, isValid: wrongUrl === undefined, isLate }
    journal.callbacks.push(posted)
    const sentTo = wrongUrl ?? url
    trace.add(`client posts ${token} to ${wrongUrl === undefined ? 'the' : 'a wrong'} callback ${runId} ${stepId}`)
    this.#request(undefined, sentTo.slice(sentTo.indexOf('/callbacks/')), { token }, ({ status, body }) => {
      this.#expect({ status, body }, [202, 404, 409, 410, 500], `callback ${token}`)
      posted.status = status
      trace.add(`client gets ${status} of ${token}: ${(body as { error?: { code: string } }).error?.code}`)
      if (status < 500) witness.calledBack(posted)
    })
  }

  /** Sends a request to the engine in service, and passes on its answer if there is one. */
  #request(namespace: string | undefined, url: string, body: unknown, onAnswer: (answer: HttpAnswer) => void): void {
    const { host, clock, witness } = this.#deps
    const incarnation = host.current
    if (!incarnation) return
    const { life, engine } = incarnation
    const owed = { life }
    this.#owing.add(owed)
    const key = namespace === undefined ? {} : { key: apiKey(namespace) }
    const answered = inject(engine, { method: 'POST', url, body, ...key })
    clock.activity.sign()
    void answered
      .then(answer => {
        clock.activity.sign()
        if (!life.dead) onAnswer(answer)
      })
      .catch(error => {
        if (!life.draining || error.code !== 'FST_ERR_REOPENED_CLOSE_SERVER') witness.fail(error)
      })
      .finally(() => this.#owing.delete(owed))
  }

  /** A draining engine may refuse anything. */
  #expect({ status, body }: HttpAnswer, statuses: readonly number[], what: string): void {
    ensure(
      statuses.includes(status) || status === 503,
      'the interface answers as documented',
      () => `${what}: ${status} ${JSON.stringify(body)}`,
    )
  }
}
