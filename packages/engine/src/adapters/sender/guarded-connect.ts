// Connections that lead to allowed addresses only. Every connection of the webhook sender is made here, so that a
// name is resolved, judged and connected to in one go: there is no second look-up that could answer otherwise.

import { lookup as dnsLookup, type LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'

export interface GuardOptions {
  /** Whether this address may be called, to which the URL's host leads. */
  allows: (address: string, host: string) => boolean
  connectTimeoutMs: number
  /** Resolves names; the system's resolver unless a test has its own. */
  lookup?: typeof dnsLookup
}

/**
 * The URL leads where it must not. The message does not tell what a name resolved to: that would let anybody who
 * may send a webhook read the internal DNS.
 */
export class AddressRefusedError extends Error {
  constructor(host: string) {
    super(`${host} is not a public address`)
    this.name = 'AddressRefusedError'
  }
}

export function guardedConnector(options: GuardOptions): buildConnector.connector {
  const { allows } = options
  const connect = buildConnector({ timeout: options.connectTimeoutMs, lookup: guardedLookup(options) })
  return (target, callback) => {
    const { hostname } = target
    // A literal address never gets to the lookup.
    if (isIP(hostname) === 0 || allows(hostname, hostname)) connect(target, callback)
    else queueMicrotask(() => callback(new AddressRefusedError(hostname), null))
  }
}

/** Resolves a name to its addresses, if all of them are allowed: one forbidden among them is one too many. */
function guardedLookup({ allows, lookup = dnsLookup }: GuardOptions): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const first: LookupAddress | undefined = error ? undefined : addresses[0]
      if (error) callback(error, [])
      else if (first === undefined) callback(new Error(`${hostname} has no address`), [])
      else if (!addresses.every(({ address }) => allows(address, hostname)))
        callback(new AddressRefusedError(hostname), [])
      else if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}
