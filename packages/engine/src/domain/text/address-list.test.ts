import { describe, expect, it, test } from 'vitest'
import { AddressList } from './address-list.ts'

function listOf(...entries: string[]): AddressList {
  const list = AddressList.of(entries)
  if (typeof list === 'string') throw new Error(`${list} was refused`)
  return list
}

describe('AddressList', () => {
  const list = listOf('10.1.0.0/16', '192.168.7.9', 'fd00:aa::/32', 'fd00:bb::1', 'Hooks.Internal')

  it.each([
    ['10.1.0.0', 'x.example'],
    ['10.1.255.255', '10.1.255.255'],
    ['192.168.7.9', 'x.example'],
    ['fd00:aa:1::5', 'x.example'],
    ['FD00:00BB::1', 'x.example'],
    ['127.0.0.1', 'hooks.internal'],
    ['169.254.169.254', 'HOOKS.internal'],
    ['8.8.8.8', 'x.example'],
  ])('allows %s behind %s', (address, host) => expect(list.allows(address, host)).toBe(true))

  it.each([
    ['10.2.0.0', 'x.example'],
    ['192.168.7.10', 'x.example'],
    ['fd00:bb::2', 'x.example'],
    ['127.0.0.1', 'x.hooks.internal'],
    ['127.0.0.1', 'hooks.internal.'],
    ['::ffff:10.1.0.1', 'x.example'],
    ['::ffff:a01:1', 'x.example'],
    ['012.1.0.1', 'x.example'],
    ['10.1.1', 'x.example'],
    ['fd00:aa::1%eth0', 'x.example'],
    ['', 'x.example'],
  ])('refuses %s behind %s', (address, host) => expect(list.allows(address, host)).toBe(false))

  test('one of nothing allows public addresses alone', () => {
    expect(AddressList.none.allows('8.8.8.8', 'x.example')).toBe(true)
    expect(AddressList.none.allows('10.0.0.1', 'x.example')).toBe(false)
  })

  it.each([
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0/8',
    '0x7f.1',
    '2130706433',
    '010.0.0.1',
    '::ffff:10.0.0.1',
    'http://hooks.internal',
    'hooks.internal:80',
    'hooks..internal',
    '-hooks',
    '*',
    '[::1]',
    'fe80::1%eth0',
  ])('%s is no entry', entry => expect(AddressList.of(['10.0.0.1', entry])).toBe(entry))
})
