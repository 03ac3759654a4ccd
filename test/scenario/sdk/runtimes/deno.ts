// Deno, with the handler of web-standard requests.

import { createFetchHandler, createHandler, startRegistration } from '@perdure/sdk'
import { app, workflows } from './workflows.ts'

interface Deno {
  serve(
    options: { port: number; hostname: string; onListen(address: { port: number }): void },
    handle: (request: Request) => Promise<Response>,
  ): unknown
}

const handler = createHandler({ app, workflows })
const { Deno } = globalThis as unknown as { Deno: Deno }
Deno.serve(
  {
    port: 0,
    hostname: '127.0.0.1',
    onListen: ({ port }) => void startRegistration(handler, { url: `http://127.0.0.1:${port}`, framework: 'deno' }),
  },
  createFetchHandler(handler),
)
