// A runner as part of an existing web server: the engine calls its `/invoke`.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { serve } from 'perdure/express'
import { onboarding } from './workflows.ts'

const app = express()
app.get('/', (_request, response) => void response.send('Welcome to the shop'))

const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/invoke`
await serve(app, { app: 'crm', workflows: [onboarding], url }).ready
console.log('runner of app "crm" is ready')
