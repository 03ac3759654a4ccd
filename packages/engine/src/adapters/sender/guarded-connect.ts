// Connections to allowed addresses only, for the webhook sender (docs/webhooks.md#addresses). A name is resolved, checked
// and connected to in one step, so there is no second lookup that could answer differently.

import { lookup as dnsLookup, type LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'

export interface GuardOptions {
  /** Whether the address that the URL's host resolves to may be called. */
  allows: (address: string, host: string) => boolean
  connectTimeoutMs: number
  /** Resolves names; a test may replace the system's resolver. */
  lookup?: typeof dnsLookup
}

/**
 * The URL's host is not an allowed address. The message does not contain the resolved address: otherwise everyone who may send a
 * webhook could read the internal DNS.
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
    // The lookup is not called for a literal address.
    if (isIP(hostname) === 0 || allows(hostname, hostname)) connect(target, callback)
    else queueMicrotask(() => callback(new AddressRefusedError(hostname), null))
  }
}

/** Resolves a name to its addresses, and refuses it if any of them is not allowed. */
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
