// A page that misbehaves on purpose, to test the checks of `faults.ts` and `leaks.ts`. It has the headers of the console and runs
// a given script.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface BrokenPage {
  origin: string
  /** The address of the page. */
  url: string
}

/** Serves a page with this script, and an empty list at every other path. */
export async function serveBrokenPage(script: string, headers: Record<string, string>): Promise<BrokenPage> {
  const server = createServer(({ url }, response) => {
    if (url === '/console/') response.writeHead(200, { ...headers, 'content-type': 'text/html' }).end(HTML)
    else if (url === '/console/script.js') response.writeHead(200, { 'content-type': 'text/javascript' }).end(script)
    else if (url?.startsWith('/missing')) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': 'application/json' }).end('[]')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { origin, url: `${origin}/console/` }
}

const HTML =
  '<!doctype html><title>broken</title><link rel="icon" href="/icon"><h1>broken</h1><script src="script.js"></script>'
