import { describe, expect, it } from 'vitest'
import { isPublicAddress } from './address.ts'

/** Forbidden addresses by reason, with the edges of each range. */
const forbidden: Record<string, string[]> = {
  'this network': ['0.0.0.0', '0.0.0.1', '0.255.255.255', '::', '0:0:0:0:0:0:0:0'],
  loopback: ['127.0.0.1', '127.0.0.2', '127.1.2.3', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1', '0::01'],
  private: ['10.0.0.0', '10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
  'unique local': ['fc00::1', 'fd00::1', 'FD12:3456:789A::1', 'fdff:ffff::1', 'fd00:ec2::254'],
  'link-local, cloud metadata': ['169.254.0.1', '169.254.169.254', '169.254.170.2', 'fe80::1', 'febf::1'],
  'site-local, retired': ['fec0::1', 'feff::1'],
  'carrier NAT': ['100.64.0.1', '100.100.100.200', '100.127.255.255'],
  'protocol assignments': ['192.0.0.1', '192.0.0.170', '192.88.99.1', '192.31.196.1', '192.52.193.1', '192.175.48.1'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  'reserved, broadcast': ['240.0.0.1', '255.255.255.254', '255.255.255.255'],
  'IPv4 mapped': [
    '::ffff:127.0.0.1',
    '::FFFF:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:a9fe:a9fe',
    '::ffff:0.0.0.0',
  ],
  'IPv4 compatible or translated': ['::127.0.0.1', '::7f00:1', '::8.8.8.8', '::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::127.0.0.1', '64:ff9b::169.254.169.254', '64:ff9b:1::8.8.8.8'],
  '6to4': ['2002:7f00:1::', '2002:7f00:0001::1', '2002:a00:1::1', '2002:c0a8:101::1', '2002:a9fe:a9fe::'],
  // The client of the second one is 127.0.0.1, flipped; the server of the third is 10.0.0.1.
  Teredo: ['2001:0:7f00:1::f7f7:f7f7', '2001::808:808:0:0:80ff:fffe', '2001:0:a00:1::f7f7:f7f7'],
  'special IPv6': ['100::1', '2001:10::1', '2001:20::1', '2001:4:112::1', '2001:1::1', '5f00::1', '4000::1', '1::'],
  'other spellings of IPv4': [
    '0x7f.0.0.1',
    '0x7f000001',
    '0177.0.0.1',
    '2130706433',
    '127.1',
    '127.0.1',
    '010.8.8.8',
    '08.8.8.8',
    '0x8.8.8.8',
    '134744072',
    '8.8.8',
    '8.8.8.8.',
    '８.8.8.8',
    '::ffff:0177.0.0.1',
    '::ffff:0x8.8.8.8',
    '64:ff9b::010.8.8.8',
  ],
  'no address at all': [
    '',
    ' ',
    'localhost',
    'example.com',
    '256.1.1.1',
    '1.2.3.4.5',
    ' 8.8.8.8',
    '8.8.8.8 ',
    '8.8.8.8\n',
    '8.8.8.8:80',
    '8.8.8.0/24',
    '[::1]',
    '[2606:4700::1111]',
    'fe80::1%eth0',
    '2606:4700::1111%1',
    '::ffff:8.8.8.8%1',
    ':::',
    '1:2:3',
    'g::1',
  ],
}

const allowed = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.1',
  '126.255.255.255',
  '128.0.0.1',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.1',
  '192.167.255.255',
  '192.169.0.1',
  '198.17.255.255',
  '198.20.0.1',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2A00:1450:4001:80B::200E',
  '2001:4860:4860:0:0:0:0:8888',
  '::ffff:8.8.8.8',
  '::ffff:808:808',
  '64:ff9b::8.8.8.8',
  '64:ff9b::808:808',
  '2002:808:808::1',
  '2001:0:808:808::f7f7:f7f7',
]

describe('isPublicAddress', () => {
  const rows = Object.entries(forbidden).flatMap(([why, spellings]) => spellings.map(ip => [ip, why] as const))

  it('covers a table that is large enough', () => {
    expect(rows.length).toBeGreaterThanOrEqual(60)
    expect(new Set(rows.map(([ip]) => ip)).size).toBe(rows.length)
  })

  it.each(rows)('refuses %j (%s)', ip => {
    expect(isPublicAddress(ip)).toBe(false)
  })

  it.each(allowed)('allows %j', ip => {
    expect(isPublicAddress(ip)).toBe(true)
  })
})
