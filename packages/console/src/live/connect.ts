// Connects a tab with the hub: over the SharedWorker, or if there is none, over the leader of the tabs.

import { trustedWorkerUrl } from '../data/worker-address.ts'
import type { ToHub, ToTab } from './messages.ts'
import workerUrl from './shared-worker.ts?sharedworker&url'

/** Returns the function that sends to the hub. */
export function connect(engineUrl: string, receive: (message: ToTab) => void): (message: ToHub) => void {
  try {
    const worker = new SharedWorker(trustedWorkerUrl(workerUrl), { type: 'module', name: engineUrl })
    worker.port.onmessage = ({ data }: MessageEvent<ToTab>) => receive(data)
    return message => worker.port.postMessage(message)
  } catch {
    // This browser has none, or refuses it.
  }
  const joined = import('./leader.ts').then(({ joinTabs }) => joinTabs(engineUrl, receive))
  return message => void joined.then(send => send(message))
}
