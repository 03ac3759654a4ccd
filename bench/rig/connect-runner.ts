// Both ends of a runner's socket, without the SDK and the engine: the bare runner, and the frames that all sockets of the bench
// write. With checkpoints a pass continues after a step once the step is durable.

import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import { answerInvoke, counts } from './runner-reports.ts'
import { type Invoke, openSteps } from './workflows.ts'

interface ConnectOptions {
  /** URL of `/connect`, of the engine or of the ceiling process. */
  url: string
  headers?: Readonly<Record<string, string>>
  registration: object
  /** Reports steps in checkpoints, instead of one step per pass. */
  hasCheckpoints: boolean
}

/** Writes frames so that all frames of one tick leave in one write, like the engine and the SDK. */
export function corked(socket: WebSocket): (frame: string) => void {
  let isCorked = false
  return frame => {
    if (!isCorked) {
      isCorked = true
      const { _socket: stream } = socket as unknown as { _socket: Socket }
      stream.cork()
      setImmediate(() => {
        isCorked = false
        stream.uncork()
      })
    }
    socket.send(frame)
  }
}

/** `payload` is JSON. */
export const frameOf = (type: string, id: string, payload: string) =>
  `{"type":"${type}","id":"${id}","payload":${payload}}`

/** Connects and registers. Resolves when invokes may arrive, with a function that closes the socket. */
export async function connectRunner({
  url,
  headers = {},
  registration,
  hasCheckpoints,
}: ConnectOptions): Promise<() => void> {
  const socket = new WebSocket(url, 'engine.connect.v0', { headers, perMessageDeflate: false })
  const write = corked(socket)
  const send = (type: string, id: string, payload: string) => write(frameOf(type, id, payload))
  /** The next step of each invoke that reports checkpoints. */
  const passes = new Map<string, { invoke: Invoke; seq: number; next: number }>()

  /** Reports the next steps of the invoke; if there are none, sends its result. */
  const goOn = (id: string) => {
    const pass = passes.get(id)
    if (!pass) return
    const { opcodes, next } = openSteps(pass.invoke, pass.next)
    pass.next = next
    if (opcodes.length > 0)
      return send('invoke.checkpoint', id, `{"seq":${++pass.seq},"opcodes":[${opcodes}],"logs":[]}`)
    passes.delete(id)
    end(id, pass.invoke)
  }
  const end = (id: string, invoke: Invoke) =>
    answerInvoke(invoke, (status, body) => send('invoke.result', id, `{"status":${status},"body":${body}}`))
  const invoked = (id: string, invoke: Invoke) => {
    counts.passes++
    if (!hasCheckpoints) return end(id, invoke)
    passes.set(id, { invoke, seq: 0, next: 0 })
    goOn(id)
  }
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject)
    socket.on('open', () => {
      send('hello', 'hello', '{"protocolVersion":1}')
      send('runner.register', 'register', JSON.stringify(registration))
    })
    socket.on('message', data => {
      const text = String(data)
      const { type, id, payload } = JSON.parse(text) as { type: string; id: string; payload: unknown }
      if (type === 'invoke') invoked(id, payload as Invoke)
      else if (type === 'checkpoint.ack') goOn(id)
      else if (type === 'echo') write(text)
      else if (type === 'heartbeat') send('heartbeat.ack', id, '{}')
      else if (type === 'runner.registered') resolve()
      else if (type === 'error') reject(new Error(text))
    })
  })
  return () => socket.terminate()
}
