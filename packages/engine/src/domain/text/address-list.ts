// The list of addresses that webhooks may call although they are not public (`ENGINE_WEBHOOK_ALLOW`): hosts by name, single
// addresses and ranges. The webhook sender checks it before it refuses an address.

import ipaddr from 'ipaddr.js'
import { isPublicAddress } from './address.ts'

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** The addresses that may be called: public ones, and listed ones. */
export class AddressList {
  /** The entries as they were given. */
  readonly entries: readonly string[]
  readonly #hosts: ReadonlySet<string>
  readonly #ranges: readonly Range[]

  private constructor(entries: readonly string[], hosts: readonly string[], ranges: readonly Range[]) {
    this.entries = entries
    this.#hosts = new Set(hosts)
    this.#ranges = ranges
  }

  /** Public addresses only. */
  static readonly none = new AddressList([], [], [])

  /** Returns the list of these entries, or the first entry that is neither a host name, an address nor a range. */
  static of(entries: readonly string[]): AddressList | string {
    const hosts: string[] = []
    const ranges: Range[] = []
    for (const entry of entries) {
      const range = parseRange(entry)
      if (range) ranges.push(range)
      else if (isHostName(entry)) hosts.push(entry.toLowerCase())
      else return entry
    }
    return new AddressList(entries, hosts, ranges)
  }

  /** Whether `address`, to which the URL's host resolves, may be called. A listed name may resolve to any address. */
  allows(address: string, host: string): boolean {
    return isPublicAddress(address) || this.#hosts.has(host.toLowerCase()) || this.#isInRange(address)
  }

  /** Whether the host of a URL shows that no call is allowed: a literal address, or a name of this machine. */
  refuses(url: string): boolean {
    const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')
    const isLoopbackName = host === 'localhost' || host.endsWith('.localhost')
    if (!isLoopbackName && !ipaddr.isValid(host)) return false
    return !this.allows(isLoopbackName ? '127.0.0.1' : host, host)
  }

  /** Accepts only canonical spellings: two readers may read another spelling as two different hosts. */
  #isInRange(text: string): boolean {
    if (this.#ranges.length === 0 || !isCanonical(text)) return false
    const address = ipaddr.parse(text)
    return this.#ranges.some(([first, bits]) => first.kind() === address.kind() && address.match(first as never, bits))
  }
}

function parseRange(entry: string): Range | undefined {
  const [address = '', bits, ...rest] = entry.split('/')
  if (rest.length > 0 || !isCanonical(address)) return undefined
  const first = ipaddr.parse(address)
  const most = first.kind() === 'ipv4' ? 32 : 128
  if (bits === undefined) return [first, most]
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most ? [first, Number(bits)] : undefined
}

/** Four decimal parts, or IPv6 without a zone and without an IPv4 tail. */
function isCanonical(address: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return true
  return ipaddr.IPv6.isValid(address) && !/[%.]/.test(address)
}

/** Accepts only names: a text that ends in a number is an address in some spelling (WHATWG URL). */
function isHostName(text: string): boolean {
  const labels = text.split('.')
  if (/^(\d+|0x[\da-f]*)$/i.test(labels.at(-1) as string)) return false
  return text.length <= 253 && labels.every(label => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i.test(label))
}
