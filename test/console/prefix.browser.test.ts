// The console behind a proxy with a path prefix: pages, reads, the stream and sign-in work below it, and nothing leaves it.

import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { openPage } from '../kit/browser/page.ts'
import { onCleanup, openEngine, returned } from '../kit/index.ts'

const PREFIX = '/tools/perdure'

/** Passes requests below the prefix to the engine; answers 404 to anything else, and keeps its path. */
async function openProxy(target: () => string) {
  const outside: string[] = []
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? ''
    if (!path.startsWith(`${PREFIX}/`)) {
      outside.push(path)
      outgoing.writeHead(404).end()
      return
    }
    const { method, headers } = incoming
    const call = request(`${target()}${path.slice(PREFIX.length)}`, { method, headers }, (reply: IncomingMessage) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(outgoing)
    })
    call.on('error', () => outgoing.destroy())
    outgoing.on('close', () => call.destroy())
    incoming.pipe(call)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onCleanup(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, outside }
}

test('the overview, the list and a run work below the prefix, live', async () => {
  let target = ''
  const { origin, outside } = await openProxy(() => target)
  const engine = await openEngine({ env: { ENGINE_PUBLIC_URL: `${origin}${PREFIX}` } })
  target = engine.url
  await engine.runner({ workflows: { welcome: () => returned({ ok: true }) } })
  const page = await openPage(origin)
  await page.goto(`${origin}${PREFIX}/console/`)
  await page.getByText('No runs in this window').waitFor()
  expect(page.url()).toContain(`${PREFIX}/console/n/default/`)
  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
  await engine.api.send({ name: 'welcome' })
  await page.getByRole('row', { name: /succeeded.*welcome/ }).click()
  await page.getByText('It succeeded after').waitFor()
  await page.reload()
  await page.getByText('It succeeded after').waitFor()
  expect(new URL(page.url()).pathname).toMatch(new RegExp(`^${PREFIX}/console/n/default/runs/run_`))
  expect(outside.filter(path => path !== '/favicon.ico')).toEqual([])
})
