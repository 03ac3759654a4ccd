// The Connect side of the runner process: one socket that speaks the frames of the wire protocol, without the SDK. With
// checkpoints a pass continues after a step once the step is durable.

import { WebSocket } from 'ws'
import { Corked } from './corked.ts'
import { type Answer, answer, type Invoke, openSteps } from './workflows.ts'

export interface ConnectOptions {
  /** URL of `/connect`, of the engine or of the ceiling process. */
  url: string
  registration: object
  /** Report steps in checkpoints, instead of one step per pass. */
  checkpoints: boolean
  onPass(): void
  /** Called when the run of the invoke finishes or parks. */
  onLeft(left: NonNullable<Answer['left']>, invoke: Invoke): void
  /** Called for an invoke whose memo is wrong. */
  onFailed(): void
}

interface Frame {
  type: string
  id: string
  payload: unknown
}

export class ConnectRunner {
  readonly #options: ConnectOptions
  readonly #socket: WebSocket
  readonly #frames: Corked
  /** The next step of each invoke that reports checkpoints. */
  readonly #passes = new Map<string, { invoke: Invoke; seq: number; next: number }>()

  private constructor(options: ConnectOptions) {
    this.#options = options
    this.#socket = new WebSocket(options.url, 'engine.connect.v0', { perMessageDeflate: false })
    this.#frames = new Corked(this.#socket)
  }

  /** Connects and registers; resolves when invokes may arrive. */
  static async open(options: ConnectOptions): Promise<ConnectRunner> {
    const runner = new ConnectRunner(options)
    await runner.#register()
    return runner
  }

  close(): void {
    this.#socket.terminate()
  }

  #register(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.on('error', reject)
      this.#socket.on('open', () => {
        this.#send('hello', 'hello', '{"protocolVersion":1}')
        this.#send('runner.register', 'register', JSON.stringify(this.#options.registration))
      })
      this.#socket.on('message', data => {
        const text = String(data)
        const frame = JSON.parse(text) as Frame
        if (frame.type === 'invoke') this.#invoked(frame)
        else if (frame.type === 'checkpoint.ack') this.#goOn(frame.id)
        else if (frame.type === 'echo') this.#frames.write(text)
        else if (frame.type === 'heartbeat') this.#send('heartbeat.ack', frame.id, '{}')
        else if (frame.type === 'runner.registered') resolve()
        else if (frame.type === 'error') reject(new Error(text))
      })
    })
  }

  #invoked({ id, payload }: Frame): void {
    const invoke = payload as Invoke
    this.#options.onPass()
    if (this.#options.checkpoints) {
      this.#passes.set(id, { invoke, seq: 0, next: 0 })
      this.#goOn(id)
    } else this.#answer(id, invoke)
  }

  /** Reports the next steps of the invoke; without any, sends its result. */
  #goOn(id: string): void {
    const pass = this.#passes.get(id)
    if (!pass) return
    const { opcodes, next } = openSteps(pass.invoke, pass.next)
    if (opcodes.length === 0) {
      this.#passes.delete(id)
      this.#answer(id, pass.invoke)
      return
    }
    pass.next = next
    this.#send('invoke.checkpoint', id, `{"seq":${++pass.seq},"opcodes":[${opcodes}],"logs":[]}`)
  }

  #answer(id: string, invoke: Invoke): void {
    try {
      const { status, body, left } = answer(invoke)
      this.#send('invoke.result', id, `{"status":${status},"body":${body}}`)
      if (left) this.#options.onLeft(left, invoke)
    } catch (error) {
      // A 4xx fails the run at once, and a failed run fails the bench.
      this.#options.onFailed()
      this.#send('invoke.result', id, `{"status":400,"body":${JSON.stringify({ error: String(error) })}}`)
    }
  }

  #send(type: string, id: string, payload: string): void {
    this.#frames.write(`{"type":"${type}","id":"${id}","payload":${payload}}`)
  }
}
