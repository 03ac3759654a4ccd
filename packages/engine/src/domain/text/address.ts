// Which addresses somebody else's URL may make the engine call: public unicast ones, nothing else. The webhook
// sender asks for the literal host of a URL and for every address its name resolves to.

import ipaddr from 'ipaddr.js'

/** The only part of IPv6 that is handed out as global unicast (RFC 4291, IANA). */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]
/** Address of an IPv4 host behind NAT64 (RFC 6052). Networks without IPv4 reach the IPv4 internet by it. */
const NAT64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96]

/**
 * Whether `ip` is a public unicast address. An IPv6 address that carries an IPv4 one is judged by that. Only the
 * canonical spelling of IPv4 is taken: of another (octal, hexadecimal, short) two readers may make two hosts.
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
 * IPv6 without a zone, its dotted tail (if any) canonical too. `::a.b.c.d` is out: ipaddr.js takes it for the
 * mapped `::ffff:a.b.c.d`, the network does not.
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

/** The IPv4 addresses that an address of a transition mechanism stands for, or undefined. */
function carriedV4(address: ipaddr.IPv6): ipaddr.IPv4[] | undefined {
  if (address.match(NAT64)) return [v4At(address, 6)]
  switch (address.range()) {
    case 'ipv4Mapped':
      return [v4At(address, 6)]
    case '6to4':
      return [v4At(address, 1)]
    case 'teredo':
      // The server in the clear, the client with every bit flipped (RFC 4380).
      return [v4At(address, 2), v4At(address, 6, 0xffff)]
    default:
      return undefined
  }
}

/** The IPv4 address in two 16-bit parts of an IPv6 one, from part `index` on, each part flipped by `mask`. */
function v4At(address: ipaddr.IPv6, index: number, mask = 0): ipaddr.IPv4 {
  const high = (address.parts[index] as number) ^ mask
  const low = (address.parts[index + 1] as number) ^ mask
  return new ipaddr.IPv4([high >> 8, high & 255, low >> 8, low & 255])
}
