// A Hono app on the server of Bun or Deno.

import { serve } from '@perdure/sdk/hono'
import { Hono } from 'hono'
import { app, workflows } from './workflows.ts'

type Fetch = (request: Request, connection: never) => Response | Promise<Response>
interface Servers {
  Bun?: { serve(options: { port: number; hostname: string; fetch: Fetch }): { port: number } }
  Deno: { serve(options: { port: number; hostname: string }, fetch: Fetch): { addr: { port: number } } }
}

const hono = new Hono()
const { Bun, Deno } = globalThis as unknown as Servers
const address = { port: 0, hostname: '127.0.0.1' }
const port = Bun ? Bun.serve({ ...address, fetch: hono.fetch }).port : Deno.serve(address, hono.fetch).addr.port
serve(hono, { app, workflows, url: `http://127.0.0.1:${port}/invoke` })
