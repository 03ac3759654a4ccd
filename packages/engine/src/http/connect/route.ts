// The route `GET /connect`: the hub takes upgrades, a plain request gets an error.

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { EngineError } from '../../domain/model/errors.ts'
import type { HttpContext } from '../access/context.ts'
import { mount } from '../access/mount.ts'
import { ConnectHub } from './hub.ts'

export function connectRoutes(app: FastifyInstance, context: HttpContext): void {
  const hub = new ConnectHub(context.deps)
  hub.listen(app.server)
  app.addHook('preClose', () => hub.close())
  mount(app, context, operations.connect, async () => {
    throw new EngineError('invalid_request', 'this is a WebSocket: the request must be an upgrade')
  })
}
