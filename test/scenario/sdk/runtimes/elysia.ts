// Elysia, on the runtime it was made for.

import { perdure } from '@perdure/sdk/elysia'
import { Elysia } from 'elysia'
import { app, workflows } from './workflows.ts'

new Elysia().use(perdure({ app, workflows, path: '/api/invoke' })).listen({ port: 0, hostname: '127.0.0.1' })
