// The plain runner behind a WebSocket: `ws` and the four documented frame types alone (hello, runner.register,
// invoke, invoke.result), no SDK. It also passes `invoke.cancel` on to tests, and ignores all other frames.
// `runner.ts` opens it in place of the HTTP runner when the tests run over Connect.

import { WebSocket } from 'ws'
import type { Answer, Api } from '../http/api.ts'
import { within } from '../until.ts'
import { PlainRunner } from './plain-runner.ts'
import type { InvokeRequest, Reply } from './wire.ts'

const SUBPROTOCOL = 'engine.connect.v0'

interface Frame {
  type: string
  id: string
  payload: unknown
}

export class ConnectRunner extends PlainRunner {
  #socket: WebSocket | undefined
  #registered: { api: Api; extra: Record<string, unknown> } | undefined
  /** The id by which the engine knows the runner. */
  #runnerId = ''
  readonly #underWay = new Map<string, AbortController>()
  readonly #answers = new Map<string, (frame: Frame) => void>()
  #frames = 0

  override get url(): string {
    return this.#runnerId
  }

  /** Has nothing to listen on. After `close` the runner dials again and registers as before. */
  override async listen(): Promise<this> {
    if (this.#registered && !this.#socket) await this.#dial()
    return this
  }

  override async register(api: Api, extra: Record<string, unknown> = {}): Promise<Answer> {
    // A socket belongs to one runner for its whole life.
    if (extra.runner !== this.#registered?.extra.runner) await this.close()
    this.#registered = { api, extra }
    const answer = this.#socket ? await this.#register() : await this.#dial()
    if (answer.status !== 200) throw new Error(`registration refused: ${answer.text}`)
    return answer
  }

  get isConnected(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN
  }

  override async rejoin(api: Api): Promise<void> {
    await this.close()
    await this.register(api, this.#registered?.extra)
  }

  /** Cuts the socket, as if the runner had died. */
  override async close(): Promise<void> {
    const socket = this.#socket
    this.#socket = undefined
    if (!socket || socket.readyState === WebSocket.CLOSED) return
    const closed = new Promise(resolve => socket.once('close', resolve))
    socket.terminate()
    await within(closed, 'the end of the socket')
  }

  async #dial(): Promise<Answer> {
    const { api } = this.#registered as { api: Api }
    const url = `${api.base.replace('http', 'ws')}/connect`
    const socket = new WebSocket(url, SUBPROTOCOL, { headers: api.authorization })
    this.#socket = socket
    const opened = new Promise<void>((resolve, reject) => {
      socket.once('open', () => resolve())
      socket.once('error', reject)
    })
    socket.on('message', data => void this.#take(socket, JSON.parse(String(data)) as Frame, String(data)))
    socket.on('error', () => {})
    socket.on('close', () => {
      for (const invoke of this.#underWay.values()) invoke.abort()
      this.#underWay.clear()
      if (this.#socket === socket) this.#socket = undefined
    })
    await within(opened, 'the socket')
    await this.#ask('hello', { protocolVersion: 1 })
    return this.#register()
  }

  async #register(): Promise<Answer> {
    const { url: _, ...registration } = this.registration(this.#registered?.extra)
    const { type, payload } = await this.#ask('runner.register', { ...registration, underWay: [] })
    const { code } = payload as { code?: string }
    const status = type === 'runner.registered' ? 200 : 400
    if (status === 200) this.#runnerId = (payload as { runnerId: string }).runnerId
    return { status, headers: new Headers(), text: JSON.stringify(payload), json: payload, code }
  }

  /** Sends a frame; resolves with the answer of the same id. */
  #ask(type: string, payload: unknown): Promise<Frame> {
    const id = `${type}-${++this.#frames}`
    const answered = new Promise<Frame>(resolve => this.#answers.set(id, resolve))
    this.#socket?.send(JSON.stringify({ type, id, payload }))
    return within(answered, `the answer to ${type}`)
  }

  async #take(socket: WebSocket, frame: Frame, text: string): Promise<void> {
    const { type, id, payload } = frame
    this.#answers.get(id)?.(frame)
    this.#answers.delete(id)
    if (type === 'invoke.cancel') this.#underWay.get(id)?.abort()
    if (type !== 'invoke') return
    const gone = new AbortController()
    this.#underWay.set(id, gone)
    const received = { headers: {}, method: 'CONNECT', path: '', raw: text, signal: gone.signal }
    const reply = await this.answer({ ...(payload as InvokeRequest), ...received }).catch(
      (error: unknown): Reply => ({ status: 500, body: { error: { message: String(error) }, logs: [] } }),
    )
    if (typeof reply === 'function') throw new Error('this reply is one of HTTP: mark the test with overHttp')
    this.#underWay.delete(id)
    if (socket.readyState !== WebSocket.OPEN) return
    // A text replaces the whole body, byte for byte.
    const body = reply.text ?? reply.body
    socket.send(JSON.stringify({ type: 'invoke.result', id, payload: { status: reply.status, body } }))
  }
}
