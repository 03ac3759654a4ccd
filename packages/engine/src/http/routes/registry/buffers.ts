// `GET /buffers` and `POST /buffers/{id}/flush`: the open buffers of debounce and batch
// (docs/flow-control.md#bursts-and-batches-under-way).

import type { BufferEntry } from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { type BufferView, bufferView } from '../../../domain/arrival/buffer.ts'
import type { FlowRow } from '../../../domain/model/flow-row.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import type { BuffersQuery } from '../../../ports/store-reads.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { decodeCursor, encodeCursor, readTimeAndId } from '../../request/cursor.ts'
import { pathId } from '../../request/query.ts'
import { sendJson } from '../../response/reply.ts'

export function bufferRoutes(app: FastifyInstance, context: HttpContext): void {
  const { buffers, store, registry } = context.deps

  mount(app, context, operations.listBuffers, async (request, reply, { limit, cursor, ...filter }) => {
    const { namespace } = request.actor
    const scope = { kind: 'buffers', namespace, filter } as const
    const after = decodeCursor(cursor, scope, readTimeAndId('dueAt'))
    const reads = store.in(namespace)
    const pageOf = (query: Pick<BuffersQuery, 'after' | 'limit'>) =>
      scan(context, reply, signal => reads.buffers({ ...filter, ...query }, signal))
    const rows = await pageOf({ after, limit })
    // A page may end early, so only an empty one shows that nothing follows.
    const last = rows.at(-1)
    const next = last && { dueAt: last.dueAt as number, id: last.id }
    const more = next ? await pageOf({ after: next, limit: 1 }) : []
    if (next && more.length > 0) reply.header('x-next-cursor', encodeCursor(scope, [next.dueAt, next.id]))
    return sendJson(reply, 200, JSON.stringify(rows.map(row => presentBuffer(row, registry.batchSizeOf(row)))))
  })

  mount(app, context, operations.flushBuffer, async (request, reply) =>
    sendJson(reply, 202, JSON.stringify(await buffers.flush(request.actor, pathId(request, 'buffer')))),
  )
}

function presentBuffer(row: FlowRow, maxSize: number | undefined): BufferEntry {
  const { id, policy, app, workflow, key } = row
  const { firstAt, lastAt, dueAt, ...view } = bufferView(row) as BufferView
  return {
    id,
    kind: policy as BufferEntry['kind'],
    app,
    workflow,
    ...(key === '' ? {} : { key }),
    ...view,
    ...(maxSize === undefined ? {} : { maxSize }),
    firstAt: timestamp(firstAt),
    lastAt: timestamp(lastAt),
    dueAt: timestamp(dueAt),
  }
}
