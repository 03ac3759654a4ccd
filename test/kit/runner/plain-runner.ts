// A runner written from docs/wire-protocol.md alone, over node:http and without the SDK, so that a mistake of the SDK and one
// of the engine cannot cancel out. Each workflow is a function of one invoke; the record keeps every invoke that came and every
// step that was executed.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { onCleanup } from '../cleanup.ts'
import type { Answer, Api } from '../http/api.ts'
import { unique } from '../temp.ts'
import { type Invoke, RunnerRecord } from './runner-record.ts'
import type { InvokeRequest, Reply } from './wire.ts'

/** Answers one invoke. `invoke.pass` counts the invokes of the run from 1. */
export type Handler = (invoke: Invoke, record: RunnerRecord) => Reply | Promise<Reply>

export interface WorkflowDefinition {
  handler: Handler
  /** Fields of the registration other than the name: triggers, retry, onFailure, timeouts. */
  registration?: Record<string, unknown>
}

export interface PlainRunnerOptions {
  app?: string
  /** The id of the runner. Without one the engine identifies the runner by its URL. */
  runner?: string
  workflows: Record<string, Handler | WorkflowDefinition>
  record?: RunnerRecord
}

export class PlainRunner {
  readonly app: string
  readonly runner: string | undefined
  readonly record: RunnerRecord
  readonly workflows: Record<string, Handler | WorkflowDefinition>
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #port = 0

  constructor(options: PlainRunnerOptions) {
    this.app = options.app ?? unique('app')
    this.runner = options.runner
    this.record = options.record ?? new RunnerRecord()
    this.workflows = options.workflows
    this.#server = createServer((request, response) => void this.#take(request, response))
    this.#server.on('connection', socket => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    onCleanup(() => this.close())
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/invoke`
  }

  /** Listens. After `close` it listens on the same port again. */
  async listen(): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(this.#port, '127.0.0.1', () => resolve())
    })
    this.#port = (this.#server.address() as AddressInfo).port
    return this
  }

  /** The body of `POST /register`. */
  registration(extra: Record<string, unknown> = {}): Record<string, unknown> {
    const workflows = Object.entries(this.workflows).map(([name, workflow]) => ({
      name,
      ...(typeof workflow === 'function' ? {} : workflow.registration),
    }))
    const runner = this.runner === undefined ? {} : { runner: this.runner }
    return { app: this.app, ...runner, url: this.url, protocolVersion: 1, workflows, ...extra }
  }

  async register(api: Api, extra: Record<string, unknown> = {}): Promise<Answer> {
    const answer = await api.post('/register', this.registration(extra))
    if (answer.status !== 200) throw new Error(`registration refused: ${answer.status} ${answer.text}`)
    return answer
  }

  /**
   * Called when an engine is back, perhaps at another address. The engine has the runner's URL, so there is nothing to do; a
   * runner behind a socket dials again.
   */
  async rejoin(_api: Api): Promise<void> {}

  /** Stops listening and cuts every connection, as if the runner had died. */
  async close(): Promise<void> {
    if (!this.#server.listening) return
    const closed = new Promise(resolve => this.#server.close(resolve))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    response.on('close', () => {
      if (!response.writableFinished) gone.abort()
    })
    let reply: Reply
    try {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      reply = await this.#answer(request, Buffer.concat(chunks).toString('utf8'), gone.signal)
    } catch (error) {
      reply = { status: 500, body: { error: { message: String(error) }, logs: [] } }
    }
    if (response.destroyed) return
    if (typeof reply === 'function') {
      reply(request, response)
      return
    }
    const { status, body, text = JSON.stringify(body) ?? '' } = reply
    response.writeHead(status, { 'content-type': 'application/json' }).end(text)
  }

  async #answer(request: IncomingMessage, raw: string, signal: AbortSignal): Promise<Reply> {
    const body = JSON.parse(raw) as InvokeRequest
    const { headers, method = '', url: path = '' } = request
    return this.answer({ ...body, headers, method, path, raw, signal })
  }

  /** Answers an invoke with its workflow's handler, and records it. */
  protected async answer(received: Omit<Invoke, 'pass' | 'receivedBy'>): Promise<Reply> {
    const invoke = this.record.received({ ...received, receivedBy: this.runner ?? this.url })
    const { workflow: name } = invoke.ctx
    const workflow = this.workflows[name]
    if (workflow === undefined) {
      return { status: 404, body: { error: { message: `no workflow ${name}` }, logs: [] } }
    }
    return (typeof workflow === 'function' ? workflow : workflow.handler)(invoke, this.record)
  }
}
