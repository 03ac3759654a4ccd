// `GET /runs/{id}/bundle`: a run with everything that belongs to it as one document, streamed (docs/concepts.md#bundles).

import { Readable } from 'node:stream'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { notFound, pathId } from '../../request/query.ts'
import { sendStream } from '../../response/reply.ts'
import { presentWorkflow } from '../registry/present-registry.ts'
import { bundleText } from './bundle-text.ts'

/** Maximum number of runners whose versions are shown. */
const RUNNERS_MAX = 50

export function bundleRoutes(app: FastifyInstance, context: HttpContext): void {
  const { deps, limits } = context

  mount(app, context, operations.getRunBundle, async (request, reply, query) => {
    const { namespace } = request.actor
    const runId = pathId(request, 'run')
    const reads = deps.store.in(namespace)
    const run = await reads.run(runId)
    if (!run) throw notFound('run')
    const event = run.eventId === undefined ? undefined : await reads.event(run.eventId)
    const definitions = await deps.registry.workflows(namespace, run.app)
    const definition = definitions.find(({ name }) => name === run.workflow)
    const given = new AbortController()
    const { passes, clock, registry } = deps
    const text = bundleText({
      namespace,
      run,
      event,
      workflow: definition && presentWorkflow(definition),
      runners: registry
        .runners(namespace, run.app)
        .filter(({ workflows }) => workflows.includes(run.workflow))
        .slice(0, RUNNERS_MAX)
        .map(({ runnerId, sdkName, version, language, runtime }) => ({
          runnerId,
          sdkName,
          version,
          language,
          runtime,
        })),
      reads,
      passes,
      exportedAt: clock.now(),
      payloads: query.payloads === '1',
      bytesMax: limits.bundleBytes,
      signal: given.signal,
      onFault: err => deps.log.error({ err, requestId: request.id, runId }, 'bundle ended early'),
    })
    const stream = Readable.from(text)
    // A client that stops reading must not keep a read of the store open.
    const cancelTimer = clock.after(limits.bundleMs, () => stream.destroy())
    stream.once('close', () => {
      cancelTimer()
      given.abort()
    })
    return sendStream(reply, stream)
  })
}
