// Shows the trees of runs and events (docs/http-api/runs.md#get-runsidtree).

import type { Tree, TreeNode as WireNode } from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { runDurationMs } from '../../../domain/model/run.ts'
import { shownRunId } from '../../../domain/text/ids.ts'
import { optionalTimestamp, timestamp } from '../../../domain/text/timestamp.ts'
import type { TreeDraft, TreeNode } from '../../../domain/view/tree.ts'
import { treeOfEvent, treeOfRun } from '../../../services/run/tree.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { notFound, pathId } from '../../request/query.ts'
import { sendJson } from '../../response/reply.ts'

export function treeRoutes(app: FastifyInstance, context: HttpContext): void {
  const { store } = context.deps

  mount(app, context, operations.getRunTree, async (request, reply) => {
    const tree = await treeOfRun(store.in(request.actor.namespace), pathId(request, 'run'))
    if (!tree) throw notFound('run')
    return sendJson(reply, 200, JSON.stringify(presentTree(tree)))
  })

  mount(app, context, operations.getEventTree, async (request, reply) => {
    const tree = await treeOfEvent(store.in(request.actor.namespace), pathId(request, 'event'))
    if (!tree) throw notFound('event')
    return sendJson(reply, 200, JSON.stringify(presentTree(tree)))
  })
}

function presentTree({ nodes, truncated }: TreeDraft): Tree {
  return { nodes: nodes.map(presentNode), truncated }
}

function presentNode(node: TreeNode): WireNode {
  const { type, depth, via, stepName } = node
  const place = { type, id: shownRunId(node.id), parentId: shownRunId(node.parentId), depth, via, stepName }
  if (node.type === 'event') return { ...place, name: node.name, createdAt: timestamp(node.at) } as WireNode
  const { workflow, app, status, createdAt, startedAt, finishedAt, startKey: key } = node
  return {
    ...place,
    workflow,
    app,
    key,
    status,
    createdAt: timestamp(createdAt),
    startedAt: optionalTimestamp(startedAt),
    finishedAt: optionalTimestamp(finishedAt),
    durationMs: runDurationMs(node),
  } as WireNode
}
