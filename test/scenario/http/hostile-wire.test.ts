// Hostile bytes: requests that are not HTTP, or at its limits. They are refused with the usual error body, and the connection
// ends.

import { describe, expect, test } from 'vitest'
import { Attacked } from '../../kit/http/attack.ts'
import { rawExchange } from '../../kit/http/hostile.ts'

const attacked = await Attacked.open()

describe('the wire', () => {
  const head = `host: localhost\r\nauthorization: Bearer ${attacked.key}\r\nconnection: close\r\n`
  const post = `POST /events HTTP/1.1\r\n${head}content-type: application/json\r\n`
  const get = (target: string, headers = head) => `GET ${target} HTTP/1.1\r\n${headers}\r\n`
  const many = Array.from({ length: 3000 }, (_, i) => `x-${i}: y\r\n`).join('')

  const REFUSED: [string, string][] = [
    ['a URL that is too long', get(`/runs?q=${'x'.repeat(100_000)}`)],
    ['a header that is too long', get('/runs', `${head}x-long: ${'y'.repeat(100_000)}\r\n`)],
    ['too many headers', get('/runs', head + many)],
    ['a header without a name', get('/runs', `${head}: y\r\n`)],
    ['a header with a NUL', get('/runs', `${head}x: a\u0000b\r\n`)],
    ['a folded header', get('/runs', `${head}x: a\r\n\u0000 b\r\n`)],
    ['a URL with a space', get('/runs /x')],
    ['a URL with a NUL', get('/runs/\u0000')],
    ['a method in small letters', get('/runs').replace('GET', 'get')],
    ['a method nobody knows', get('/runs').replace('GET', 'BREW')],
    ['a version nobody speaks', get('/runs').replace('1.1', '9.9')],
    ['a way out of the root', get('/../../../etc/passwd')],
    ['an escaped way out', get('/runs/..%2f..%2f..%2fetc%2fpasswd')],
    ['an escaped NUL', get('/runs/%00')],
    ['a path of nothing', get('//')],
    ['a path in other letters', get('/RUNS')],
    ['a path with a closing slash', get('/runs/')],
    ['another server', get('http://evil.example/nowhere')],
    ['a negative length', `${post}content-length: -1\r\n\r\n{}`],
    ['a length in hex', `${post}content-length: 0x2\r\n\r\n{}`],
    ['two lengths', `${post}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`],
    ['a length and chunks', `${post}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['chunks of a broken size', `${post}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
    ['a chunk of a huge size', `${post}transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}`],
    ['too much in chunks', `${post}transfer-encoding: chunked\r\n\r\n200000\r\n${'x'.repeat(0x200000)}\r\n0\r\n\r\n`],
    ['an unknown transfer encoding', `${post}transfer-encoding: gzip\r\n\r\n{}`],
    ['the preface of another protocol', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['the hello of TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
    ['no host', `GET /runs HTTP/1.1\r\nauthorization: Bearer ${attacked.key}\r\nconnection: close\r\n\r\n`],
    ['an expectation nobody can meet', `${post}expect: a miracle\r\ncontent-length: 2\r\n\r\n{}`],
  ]

  test.each(REFUSED)('%s', async (_, bytes) => {
    const answer = await rawExchange(attacked.url, bytes)
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /)
    const { error } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))
    expect(
      Object.keys(error)
        .sort()
        .filter(key => key !== 'details'),
    ).toEqual(['code', 'message', 'requestId'])
  })

  const ALLOWED: [string, string][] = [
    ['no version: the first HTTP of all', `GET /runs?limit=1\r\n${head}\r\n`],
    [
      'a body where none is due',
      `GET /runs?limit=1 HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: 3\r\n\r\n{x}`,
    ],
    [
      'an upgrade nobody offered',
      get('/runs?limit=1', `${head.replace('close', 'upgrade')}upgrade: h2c\r\nconnection: close\r\n`),
    ],
    ['the name of this server in the URL', get('http://localhost/runs?limit=1')],
  ]

  test.each(ALLOWED)('%s is allowed', async (_, bytes) => {
    expect(await rawExchange(attacked.url, bytes)).toMatch(/^HTTP\/1\.1 200 /)
  })
})
