// A Connect runner with one run that writes to output streams. The test makes it append chunks, fail the attempt, and end the
// run.

import type { Api } from '../http/api.ts'
import { unique } from '../temp.ts'
import { dialAs } from './connect-client.ts'
import { stepId } from './wire.ts'

const STEP = 'ask'
const ID = stepId(STEP)

/** Starts a run whose step is under way. */
export async function openStreamWriter(url: string, api: Api) {
  const name = unique('writes')
  const client = await dialAs(url, { app: name, runner: `${name}-1`, features: ['streams'], workflows: [name] })
  const { runId } = await api.send({ name })
  let invoke = await client.next('invoke')
  const seqs = new Map<string, number>()
  const answer = (opcode: object) =>
    client.result(
      invoke.id,
      206,
      JSON.stringify({ opcodes: [{ op: 'StepRun', id: ID, name: STEP, ...opcode }], logs: [] }),
    )
  return {
    runId,
    app: name,
    path: `/runs/${runId}/streams/answer`,
    /** Writes chunks. Resolves with the acknowledgement, when the chunks are durable. */
    async append(chunks: readonly unknown[], stream = 'answer') {
      const seq = (seqs.get(stream) ?? 0) + 1
      seqs.set(stream, seq)
      const body = { stepId: ID, step: STEP, name: stream, seq, chunks }
      client.send('invoke.stream', body, invoke.id)
      return (await client.next('stream.ack')).payload
    },
    /** Fails the attempt, which withdraws its chunks. Resolves when the next attempt is under way. */
    async failAttempt() {
      answer({ error: { message: 'again' }, retryable: true, retryAfterMs: 1 })
      invoke = await client.next('invoke')
      seqs.clear()
    },
    /** The step succeeds, and the run ends. */
    async end() {
      answer({ data: 1 })
      invoke = await client.next('invoke')
      client.result(invoke.id, 200, JSON.stringify({ data: 1, logs: [] }))
      await api.succeeded(runId)
    },
  }
}
