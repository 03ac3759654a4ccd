// The SharedWorker of a browser: the hub, and a port for each tab.

import { FLUSH_MS, Hub, type Tab } from './hub.ts'
import type { ToHub } from './messages.ts'

/** The part of the worker's global scope that is used here. */
interface Scope {
  onconnect: ((event: MessageEvent) => void) | null
  name: string
}

const scope = self as unknown as Scope
// The tab names the worker after the address of the engine.
const hub = new Hub(scope.name)
setInterval(() => hub.tick(), FLUSH_MS)

scope.onconnect = ({ ports }) => {
  const port = ports[0]
  if (!port) return
  const tab: Tab = { send: message => port.postMessage(message) }
  port.onmessage = ({ data }: MessageEvent<ToHub>) => hub.receive(tab, data)
}
