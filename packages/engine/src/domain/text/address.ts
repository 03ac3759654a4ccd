// Decides which addresses a user's URL may make the engine call: only public unicast ones. The webhook sender checks the
// literal host of a URL and every address that its name resolves to.

import ipaddr from 'ipaddr.js'

/** The only part of IPv6 that is assigned as global unicast (RFC 4291, IANA). */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]
/** Addresses of IPv4 hosts behind NAT64 (RFC 6052). Networks without IPv4 reach the IPv4 internet through them. */
const NAT64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96]

/**
 * Whether `ip` is a public unicast address. An IPv6 address that carries an IPv4 one counts as that IPv4 address. Only the
 * canonical spelling of IPv4 passes: two readers may read another spelling (octal, hexadecimal, short) as two hosts.
 */
export function isPublicAddress(ip: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(ip)) return isPublicV4(ipaddr.IPv4.parse(ip))
  if (!isPlainV6(ip)) return false
  const address = ipaddr.IPv6.parse(ip)
  const carried = carriedV4(address)
  if (carried) return carried.every(isPublicV4)
  return address.match(GLOBAL_UNICAST) && address.range() === 'unicast'
}

/**
 * Whether the text is IPv6 without a zone, and with a canonical dotted tail if it has one. Refuses `::a.b.c.d`: ipaddr.js reads
 * it as the mapped `::ffff:a.b.c.d`, but the network does not.
 */
function isPlainV6(ip: string): boolean {
  if (!ipaddr.IPv6.isValid(ip) || ip.includes('%')) return false
  if (!ip.includes('.')) return true
  const tail = ip.slice(ip.lastIndexOf(':') + 1)
  return ip !== `::${tail}` && ipaddr.IPv4.isValidFourPartDecimal(tail)
}

function isPublicV4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast'
}

/** The IPv4 addresses for which an address of a transition mechanism stands, or undefined. */
function carriedV4(address: ipaddr.IPv6): ipaddr.IPv4[] | undefined {
  if (address.match(NAT64)) return [v4At(address, 6)]
  switch (address.range()) {
    case 'ipv4Mapped':
      return [v4At(address, 6)]
    case '6to4':
      return [v4At(address, 1)]
    case 'teredo':
      // The server's address unchanged, the client's with every bit flipped (RFC 4380).
      return [v4At(address, 2), v4At(address, 6, 0xffff)]
    default:
      return undefined
  }
}

/** The IPv4 address in two 16-bit parts of an IPv6 address, from part `index` on, each part flipped by `mask`. */
function v4At(address: ipaddr.IPv6, index: number, mask = 0): ipaddr.IPv4 {
  const high = (address.parts[index] as number) ^ mask
  const low = (address.parts[index + 1] as number) ^ mask
  return new ipaddr.IPv4([high >> 8, high & 255, low >> 8, low & 255])
}
