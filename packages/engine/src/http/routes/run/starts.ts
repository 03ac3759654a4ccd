// `POST /workflows/{app}/{name}/runs` starts a run without an event (docs/concepts.md#start-a-workflow-directly).

import type { StartPreview as Preview } from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { invalid } from '../../../domain/model/errors.ts'
import { shownRunId } from '../../../domain/text/ids.ts'
import { objectMember } from '../../../domain/text/json-text.ts'
import { readTraceparent } from '../../../domain/text/traceparent.ts'
import { runSummary } from '../../../domain/view/run-summary.ts'
import type { StartPreview, StartRequest } from '../../../services/run/start.ts'
import { accept } from '../../access/accept.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { bodyOf } from '../../request/body.ts'
import { validator } from '../../request/validate.ts'
import { sendJson } from '../../response/reply.ts'
import { tokenOf } from './live/run-tokens.ts'

const checkStart = validator(operations.startRun.body.schema)

export function startRoutes(app: FastifyInstance, context: HttpContext): void {
  const { starts, control } = context.deps

  mount(
    app,
    context,
    operations.startRun,
    async (request, reply, { token: tokenMs }) => {
      const { dryRun, ...wanted } = startRequest(request)
      const { actor } = request
      if (dryRun && tokenMs > 0) throw invalid('token', 'cannot be given with dryRun')
      if (dryRun) return sendJson(reply, 200, JSON.stringify(present(await starts.preview(actor, wanted))))
      const trace = readTraceparent(request.headers.traceparent)
      const { run, isRepeat } = await accept(context, reply, () =>
        starts.start({ ...actor, ...(trace && { trace }) }, wanted),
      )
      const existing = isRepeat ? { existing: true } : {}
      const token = tokenMs > 0 ? tokenOf(context.deps, actor, run, tokenMs) : {}
      return sendJson(reply, isRepeat ? 200 : 201, JSON.stringify({ ...runSummary(run), ...existing, ...token }))
    },
    { refuseEarly: ({ actor }) => control.assertActive(actor.namespace) },
  )
}

/** The checked body, with the exact text of `input`. */
function startRequest(request: FastifyRequest): StartRequest & { dryRun: boolean } {
  const { app, name } = request.params as { app: string; name: string }
  const body = bodyOf(request)
  const { runId, key, ifRunning, attributes, dryRun = false } = checkStart(body === undefined ? {} : body.value)
  if (key === undefined && ifRunning !== undefined) throw invalid('ifRunning', 'has no effect without key')
  const input = body && objectMember(body.text, 'input')
  return {
    app,
    name,
    dryRun,
    ...(input === undefined ? {} : { input }),
    ...(runId === undefined ? {} : { runId }),
    ...(attributes === undefined ? {} : { attributes }),
    ...(key === undefined ? {} : { startKey: { key, ifRunning: ifRunning ?? 'use' } }),
  }
}

function present({ workflow, run, policies, liveRunId }: StartPreview): Preview {
  return {
    dryRun: true,
    workflow: workflow.name,
    app: workflow.app,
    outcome: run ? 'repeat' : liveRunId === undefined ? 'run' : 'skipped',
    ...(run || liveRunId === undefined ? {} : { liveRunId: shownRunId(liveRunId) }),
    ...(run && { run: runSummary(run) as Preview['run'] }),
    ...(workflow.pausedAt === undefined ? {} : { paused: true }),
    policies: policies as Preview['policies'],
  }
}
