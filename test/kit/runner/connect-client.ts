// A bare Connect socket. It keeps the frames it receives, and sends only what a test makes it send.

import type { IncomingHttpHeaders } from 'node:http'
import { WebSocket } from 'ws'
import { onCleanup } from '../cleanup.ts'
import { until } from '../until.ts'
import type { Handler } from './plain-runner.ts'
import type { Invoke, RunnerRecord } from './runner-record.ts'
import type { InvokeRequest } from './wire.ts'

const SUBPROTOCOL = 'engine.connect.v0'

export interface ClientFrame {
  type: string
  id: string
  payload: Record<string, unknown>
  /** The frame as received. */
  text: string
}

export interface ClientOptions {
  key?: string | undefined
  protocols?: string[]
  headers?: Record<string, string>
}

export interface ClientRegistration {
  app: string
  runner?: string | undefined
  workflows?: string[]
  [field: string]: unknown
}

export class ConnectClient {
  readonly ws: WebSocket
  readonly frames: ClientFrame[] = []
  /** How the socket was closed. */
  closed: { code: number; reason: string } | undefined
  /** The status of a refused upgrade. */
  refused: number | undefined
  /** The headers of the 101. */
  headers: IncomingHttpHeaders = {}
  pings = 0
  /** Called with every frame. */
  onFrame: (frame: ClientFrame) => void = () => {}
  readonly #taken = new Set<ClientFrame>()
  #ids = 0

  constructor(url: string, { key, protocols = [SUBPROTOCOL], headers = {} }: ClientOptions = {}) {
    this.ws = new WebSocket(`${url.replace('http', 'ws')}/connect`, protocols, {
      headers: { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...headers },
    })
    this.ws.on('upgrade', response => {
      this.headers = response.headers
    })
    this.ws.on('unexpected-response', (request, response) => {
      this.refused = response.statusCode
      request.destroy()
    })
    this.ws.on('message', (data: Buffer) => this.#take(data.toString()))
    this.ws.on('ping', () => {
      this.pings++
    })
    this.ws.on('error', () => {})
    this.ws.on('close', (code, reason) => {
      this.closed = { code, reason: String(reason) }
    })
    onCleanup(() => this.ws.terminate())
  }

  get isOpen(): boolean {
    return this.ws.readyState === WebSocket.OPEN
  }

  async opened(): Promise<this> {
    await until(() => this.isOpen, { what: 'the socket' })
    return this
  }

  send(type: string, payload?: unknown, id = `c${++this.#ids}`): string {
    this.ws.send(JSON.stringify({ type, id, payload }))
    return id
  }

  /** Answers an invoke. `body` is JSON text and is sent as it is. */
  result(id: string, status: number, body: string): void {
    this.ws.send(`{"type":"invoke.result","id":"${id}","payload":{"status":${status},"body":${body}}}`)
  }

  /** Resolves with the next frame of the type that no call has taken yet. */
  next(type: string): Promise<ClientFrame> {
    const look = () => {
      const frame = this.frames.find(one => one.type === type && !this.#taken.has(one))
      if (frame) this.#taken.add(frame)
      return frame
    }
    return until(look, { what: `a frame ${type}` })
  }

  count(type: string): number {
    return this.frames.filter(frame => frame.type === type).length
  }

  /** Sends the registration; resolves with its `runner.registered` or `error`. */
  async register({ workflows = [], ...fields }: ClientRegistration): Promise<ClientFrame> {
    const named = workflows.map(name => ({ name }))
    const id = this.send('runner.register', { protocolVersion: 1, workflows: named, ...fields })
    return until(() => this.frames.find(frame => frame.id === id), { what: 'the answer of the registration' })
  }

  async closes(): Promise<number> {
    return (await until(() => this.closed, { what: 'the end of the socket' })).code
  }

  /** Answers every invoke with a handler, as a runner would. */
  serve(handlers: Record<string, Handler>, record: RunnerRecord, receivedBy = 'connect'): void {
    this.onFrame = frame => {
      if (frame.type === 'invoke') void this.#answer(frame, { handlers, record, receivedBy })
    }
  }

  async #answer(
    { id, payload, text }: ClientFrame,
    { handlers, record, receivedBy }: { handlers: Record<string, Handler>; record: RunnerRecord; receivedBy: string },
  ): Promise<void> {
    const request = payload as unknown as InvokeRequest
    const { signal } = new AbortController()
    const received: Omit<Invoke, 'pass'> = {
      ...request,
      headers: {},
      method: 'CONNECT',
      path: '',
      raw: text,
      signal,
      receivedBy,
    }
    const invoke = record.received(received)
    const reply = await (handlers[request.ctx.workflow] as Handler)(invoke, record)
    if (typeof reply === 'function' || !this.isOpen) return
    this.result(id, reply.status, JSON.stringify(reply.body))
  }

  #take(text: string): void {
    const { type, id, payload = {} } = JSON.parse(text) as ClientFrame
    const frame = { type, id, payload, text }
    this.frames.push(frame)
    this.onFrame(frame)
  }
}

/** Opens a socket. */
export function dial(url: string, options?: ClientOptions): Promise<ConnectClient> {
  return new ConnectClient(url, options).opened()
}

/** Opens a socket and registers a runner on it. */
export async function dialAs(
  url: string,
  registration: ClientRegistration,
  options?: ClientOptions,
): Promise<ConnectClient> {
  const client = await dial(url, options)
  const answer = await client.register(registration)
  if (answer.type !== 'runner.registered') throw new Error(`registration refused: ${answer.text}`)
  return client
}
