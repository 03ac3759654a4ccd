// Sends appends to output streams over HTTP, one at a time for each stream (docs/wire-protocol.md#output-streams).

import { setTimeout as delay } from 'node:timers/promises'
import { API_ERROR_STATUS, type ApiErrorCode, type EngineAnswer } from '@perdure/protocol'
import { AppendRefusedError, appendText, type StreamOutlet } from '../stream/outlet.ts'

/** Delays before an append is sent again. The last one repeats for all further tries. */
const RETRY_MS = [50, 250, 1_000]
/** By status, the refusals that a retry does not change. */
const REFUSALS: ReadonlyMap<number, ApiErrorCode> = new Map(
  (['invalid_request', 'conflict', 'gone', 'payload_too_large'] satisfies ApiErrorCode[]).map(code => [
    API_ERROR_STATUS[code],
    code,
  ]),
)

/** Posts JSON to a route of the pass. Resolves with undefined if there is no answer. */
export type PostAppend = (route: string, body: string) => Promise<Pick<EngineAnswer, 'status' | 'text'> | undefined>

/** The outlet of a pass whose routes `post` reaches. */
export function httpStreams(post: PostAppend): StreamOutlet {
  return {
    appendsMax: 1,
    async append(append, isOver) {
      const body = appendText(append)
      for (let tries = 0; !isOver(); tries++) {
        const answer = await post(`streams/${append.name}`, body)
        if (answer?.status === 200) return
        const refusal = answer && REFUSALS.get(answer.status)
        if (answer && refusal) throw new AppendRefusedError(refusal, messageOf(answer))
        await delay(RETRY_MS[Math.min(tries, RETRY_MS.length - 1)])
      }
    },
  }
}

function messageOf({ status, text }: Pick<EngineAnswer, 'status' | 'text'>): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } }
    if (typeof error?.message === 'string') return error.message
  } catch {
    // A proxy or another server between runner and engine answered.
  }
  return `HTTP ${status}`
}
