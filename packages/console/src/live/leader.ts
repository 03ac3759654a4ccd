// The hub for a browser without SharedWorker: one tab, the leader, has it, and the others reach it over a BroadcastChannel. A
// lock of the browser elects the leader; when its tab closes, the next tab gets the lock and creates a new hub.

import { FLUSH_MS, Hub, type Tab } from './hub.ts'
import type { ToHub, ToTab } from './messages.ts'

/** A message between tabs: to the leader, to one tab, or to all. */
type Envelope = { from: string; toHub: ToHub } | { to: string; toTab: ToTab } | { toAll: ToTab }

/** Joins the tabs of this browser. Returns the function that sends to the hub. */
export function joinTabs(url: string, receive: (message: ToTab) => void): (message: ToHub) => void {
  const name = `perdure ${url}`
  const id = String(crypto.getRandomValues(new Uint32Array(4)))
  const channel = openChannel(name)
  const tabs = new Map<string, Tab>()
  let hub: Hub | undefined

  const toHub = (from: string, message: ToHub): void => {
    if (!hub) return
    const tab: Tab = tabs.get(from) ?? {
      send: toTab => (from === id ? receive(toTab) : channel?.postMessage({ to: from, toTab } satisfies Envelope)),
    }
    if (message.type === 'bye') tabs.delete(from)
    else tabs.set(from, tab)
    hub.receive(tab, message)
  }
  const lead = (): void => {
    const opened = new Hub(url)
    hub = opened
    setInterval(() => opened.tick(), FLUSH_MS)
    receive({ type: 'hello' })
    channel?.postMessage({ toAll: { type: 'hello' } } satisfies Envelope)
  }

  if (channel)
    channel.onmessage = ({ data }: MessageEvent<Envelope>) => {
      if ('toHub' in data) toHub(data.from, data.toHub)
      else if ('toAll' in data) receive(data.toAll)
      else if (data.to === id) receive(data.toTab)
    }
  // Browsers have locks only on secure addresses, and may refuse them; each tab then has its own stream.
  if (navigator.locks === undefined || !channel) lead()
  else {
    const locked = navigator.locks.request(name, () => {
      lead()
      return new Promise<never>(() => {})
    })
    locked.catch(lead)
  }
  return message => {
    if (hub) toHub(id, message)
    else channel?.postMessage({ from: id, toHub: message } satisfies Envelope)
  }
}

/** Opens the channel to the other tabs; undefined if the browser has none, or refuses it. */
function openChannel(name: string): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(name)
  } catch {
    return undefined
  }
}
