// Connect through a proxy that does not let WebSockets pass.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createWorkflow } from '@perdure/sdk'
import { connect } from '@perdure/sdk/connect'
import { expect, test } from 'vitest'
import { scenario, unique } from '../../kit/index.ts'

const { engine } = await scenario({ realTime: true })

test('a proxy that drops the upgrade: the error names the address, what it answered, and the remedy', async () => {
  // Treats an upgrade as a plain request, like nginx without `proxy_set_header Upgrade`.
  const proxy = createServer(async (request, response) => {
    const answer = await fetch(engine.url + request.url)
    response.writeHead(answer.status).end(await answer.text())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo
  const runner = connect({
    app: unique('app'),
    engineUrl: `http://127.0.0.1:${port}`,
    workflows: [createWorkflow({ name: unique('w') }, () => 1)],
    handleSignals: false,
    log: () => undefined,
  })
  const error = await runner.ready.catch(thrown => thrown)
  expect(error).toMatchObject({ code: 'http_400', status: 400 })
  expect(error.message).toBe(
    `The WebSocket handshake was not accepted: ws://127.0.0.1:${port}/connect answered 400: this is a WebSocket: the request must be an upgrade. A proxy in front of the engine drops the upgrade: it must forward the headers Upgrade and Connection, over HTTP/1.1`,
  )
  await runner.close()
  proxy.closeAllConnections()
  proxy.close()
})
