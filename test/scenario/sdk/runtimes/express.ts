// An Express app, on a runtime that only imitates node:http.

import type { AddressInfo } from 'node:net'
import { serve } from '@perdure/sdk/express'
import express from 'express'
import { app, workflows } from './workflows.ts'

const site = express()
const server = site.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  serve(site, { app, workflows, url: `http://127.0.0.1:${port}/invoke` })
})
