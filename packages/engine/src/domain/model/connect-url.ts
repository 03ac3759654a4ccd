// The pseudo-URL (`conn://`) of a runner that connects by WebSocket (docs/http-api/apps-runners-workflows.md#runner).
// Registration creates it; routing and the list of runners recognise it.

import type { Runner } from './workflow.ts'

const SCHEME = 'conn://'

/** The URL of a Connect runner. `id` is the runner's id, or its socket's id if the runner has none. */
export function connectUrl(namespace: string, app: string, id: string): string {
  return SCHEME + [namespace, app, id].map(encodeURIComponent).join('/')
}

/** Whether invokes to the URL go over a socket that the runner opened. */
export function isConnectUrl(url: string): boolean {
  return url.startsWith(SCHEME)
}

/** Whether this is a Connect runner without an id of its own. Such a runner exists only while its socket does. */
export function isNamelessConnect({ url, runnerId }: Pick<Runner, 'url' | 'runnerId'>): boolean {
  return runnerId === url && isConnectUrl(url)
}

/** The namespace and app of a `conn://` URL's runner; undefined for any other URL. */
export function connectUrlOwner(url: string): { namespace: string; app: string } | undefined {
  if (!isConnectUrl(url)) return undefined
  const parts = url.slice(SCHEME.length).split('/')
  // Every pass calls this, and few names have anything to decode.
  const [namespace, app] = url.includes('%') ? parts.map(decodeURIComponent) : parts
  return namespace === undefined || app === undefined ? undefined : { namespace, app }
}
