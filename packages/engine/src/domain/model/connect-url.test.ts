// The pseudo-URLs of Connect runners.

import { expect, test } from 'vitest'
import { connectUrl, isConnectUrl, isNamelessConnect } from './connect-url.ts'

test('names the namespace, the app and the runner, whatever is in their names', () => {
  expect(connectUrl('team', 'shop', 'r1')).toBe('conn://team/shop/r1')
  expect(connectUrl('a/b', 'ä ?', 'x#y')).toBe('conn://a%2Fb/%C3%A4%20%3F/x%23y')
})

test('differs from an address', () => {
  expect(['conn://a/b/c', 'http://conn://', 'https://a/'].map(isConnectUrl)).toEqual([true, false, false])
})

test('is its own id when the runner has none', () => {
  const url = connectUrl('team', 'shop', 'ses_1')
  expect(isNamelessConnect({ url, runnerId: url })).toBe(true)
  expect(isNamelessConnect({ url, runnerId: 'r1' })).toBe(false)
  expect(isNamelessConnect({ url: 'http://a/', runnerId: 'http://a/' })).toBe(false)
})
