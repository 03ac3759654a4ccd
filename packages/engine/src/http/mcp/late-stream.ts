// The answer to a message as a stream of events, once there is something to send before the reply: the progress of a tool. Before
// that the answer is plain JSON. Opened by route.ts.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HttpContext } from '../access/context.ts'
import { SseStream, sseMessage } from '../live/sse.ts'
import type { Caller } from './messages.ts'
import type { RpcReply } from './rpc.ts'

export class LateStream {
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #context: HttpContext
  readonly #isAuthorized: () => boolean
  readonly #gone = new AbortController()
  #stream: SseStream | undefined

  constructor(context: HttpContext, request: FastifyRequest, reply: FastifyReply, isAuthorized: () => boolean) {
    this.#isAuthorized = isAuthorized
    this.#request = request
    this.#reply = reply
    this.#context = context
    reply.raw.once('close', () => this.#gone.abort())
  }

  /** The part of a caller that the connection gives. */
  get caller(): Pick<Caller, 'signal' | 'notify'> {
    return {
      signal: this.#gone.signal,
      notify: async notification => {
        this.#stream ??= this.#open()
        await this.#stream.write(bytesOf(notification))
      },
    }
  }

  /** Sends the reply if the answer is a stream; returns whether it is. */
  end(reply: RpcReply | undefined): boolean {
    if (!this.#stream) return false
    if (reply) this.#stream.offer(bytesOf(reply))
    this.#stream.end()
    return true
  }

  #open(): SseStream {
    const { actor } = this.#request
    return new SseStream(this.#reply, this.#context, {
      actor,
      isAuthorized: this.#isAuthorized,
      onEnd: () => this.#gone.abort(),
    })
  }
}

const bytesOf = (message: object): Buffer =>
  Buffer.from(sseMessage({ event: 'message', data: JSON.stringify(message) }))
