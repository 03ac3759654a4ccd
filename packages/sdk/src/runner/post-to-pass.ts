// Posts to the engine while a pass over HTTP continues: reports of steps, and chunks of output streams.

import { callAnyEngine, type EngineList } from '@perdure/protocol'

/** Maximum wait for the answer to one request. */
const ANSWER_MS_MAX = 10_000

/** A pass, identified by the token for its routes, and the engines that accept it. */
export interface PassAtEngine {
  engines: EngineList
  token: string
}

/** Posts JSON to a route of the pass, such as `checkpoints`. Returns undefined if there is no answer. */
export async function postToPass(
  { engines, token }: PassAtEngine,
  route: string,
  body: string,
): Promise<{ status: number; text: string } | undefined> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new Error('The engine does not answer')), ANSWER_MS_MAX)
  try {
    const headers = { 'content-type': 'application/json' }
    const path = `/invokes/${encodeURIComponent(token)}/${route}`
    const call = { path, method: 'POST', headers, body, signal: late.signal, isRepeatable: true }
    return await callAnyEngine(engines, { ...call, timeoutMs: ANSWER_MS_MAX })
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
