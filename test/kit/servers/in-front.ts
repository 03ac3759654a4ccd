// The parts that the proxies of tests share: they listen on this machine, and take the server's place in an address.

import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { onCleanup } from '../cleanup.ts'

/** Listens on a free port. At the end of the test file, `close` ends the connections and the server closes. */
export async function listenInFront(server: Server, close: () => void): Promise<void> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onCleanup(() => {
    close()
    server.close()
  })
}

/** The address with the proxy in place of the server. */
export function addressInFront(server: Server, url: string): string {
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String((server.address() as AddressInfo).port)
  return through.href
}
