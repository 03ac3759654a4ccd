// Reads the result of a run, and waits for it (docs/events.md#wait-for-the-result). `whileOpen` and the texts are also used by
// `POST /events?wait=`.

import type { SendEventReply } from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { isTerminal } from '../../../domain/model/run.ts'
import { runEndText } from '../../../domain/view/run-end.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { notFound, pathId } from '../../request/query.ts'
import { sendJson } from '../../response/reply.ts'

export function resultRoutes(app: FastifyInstance, context: HttpContext): void {
  mount(app, context, operations.getRunResult, async (request, reply, { wait }) => {
    const { namespace } = request.actor
    const runId = pathId(request, 'run')
    const run = await whileOpen(context, reply, signal =>
      context.deps.results.read(namespace, runId, { ms: wait, signal }),
    )
    if (!run) throw notFound('run')
    return sendJson(reply, isTerminal(run.status) ? 200 : 202, runEndText(run))
  })
}

/** The run that the event started, if it is the only one. The run of a buffer is of many events, so none of them waits for it. */
export function onlyRunOf({ triggered = [] }: SendEventReply): string | undefined {
  const started = triggered.flatMap(({ runId, debounced, batched }) => (debounced || batched ? [] : (runId ?? [])))
  return started.length === 1 ? started[0] : undefined
}

/** The result of a wait that ends early when the client disconnects or the engine shuts down. */
export async function whileOpen<T>(
  { drain }: HttpContext,
  { raw }: FastifyReply,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const end = new AbortController()
  const abort = () => end.abort()
  const leaveDrain = drain.onStart(abort)
  raw.on('close', abort)
  try {
    return await wait(end.signal)
  } finally {
    leaveDrain()
    raw.off('close', abort)
  }
}
