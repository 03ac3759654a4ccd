// Reads the result of a run, and waits for it (docs/events.md#wait-for-the-result). `whileOpen` and the texts are also used by
// `POST /events?wait=`.

import type { SendEventReply } from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { isTerminal } from '../../../domain/model/run.ts'
import { publicEnd } from '../../../domain/view/public-view.ts'
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
    const { runToken } = request.actor
    // The wait may have been longer than the token's time.
    if (runToken) context.deps.runAccess.check(runToken)
    return sendJson(reply, isTerminal(run.status) ? 200 : 202, runEndText(runToken ? publicEnd(run) : run))
  })
}

/**
 * The run that the event started, if it is the only one. The run of a buffer belongs to many events, so none of them waits for
 * it.
 */
export function onlyRunOf({ triggered = [] }: SendEventReply): string | undefined {
  const started = triggered.flatMap(({ runId, debounced, batched }) => (debounced || batched ? [] : (runId ?? [])))
  return started.length === 1 ? started[0] : undefined
}

/** The result of a wait that ends early when the client disconnects, its run token ends or the engine shuts down. */
export async function whileOpen<T>(
  { deps, drain }: HttpContext,
  { raw, request }: FastifyReply,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const end = new AbortController()
  const abort = () => end.abort()
  const leaveDrain = drain.onStart(abort)
  const leaveToken = deps.runAccess.onEnd(request.actor.runToken, abort)
  raw.on('close', abort)
  try {
    return await wait(end.signal)
  } finally {
    leaveDrain()
    leaveToken()
    raw.off('close', abort)
  }
}
