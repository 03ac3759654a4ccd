// A Fastify app, on a runtime that only imitates node:http.

import { perdure } from '@perdure/sdk/fastify'
import { fastify } from 'fastify'
import { app, workflows } from './workflows.ts'

const site = fastify()
site.register(perdure, { app, workflows })
await site.listen({ port: 0, host: '127.0.0.1' })
