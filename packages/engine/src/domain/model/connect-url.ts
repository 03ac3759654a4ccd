// The pseudo-URL of a runner that dials in (`conn://`, contract §2.5): made at its registration, and told apart from
// an address by whoever routes or lists runners.

import type { Runner } from './workflow.ts'

const SCHEME = 'conn://'

/** `id` is the runner's own, or its session's when it has none. */
export function connectUrl(namespace: string, app: string, id: string): string {
  return SCHEME + [namespace, app, id].map(encodeURIComponent).join('/')
}

/** Whether invokes of the URL go over a socket that the runner opened. */
export function isConnectUrl(url: string): boolean {
  return url.startsWith(SCHEME)
}

/** A Connect runner without an id of its own: it is its socket, and gone with it. */
export function isNamelessConnect({ url, runnerId }: Pick<Runner, 'url' | 'runnerId'>): boolean {
  return runnerId === url && isConnectUrl(url)
}

/** Whose runner a `conn://` URL names; undefined of any other URL. */
export function connectUrlOwner(url: string): { namespace: string; app: string } | undefined {
  if (!isConnectUrl(url)) return undefined
  const [namespace, app] = url.slice(SCHEME.length).split('/').map(decodeURIComponent)
  return namespace === undefined || app === undefined ? undefined : { namespace, app }
}
