// Hostile input for ids, parameters and bodies, and a socket that sends any bytes.

import { connect } from 'node:net'
import { within } from '../until.ts'

/** Texts for ids, names and parameters. */
export const HOSTILE_TEXTS: readonly string[] = [
  '',
  ' ',
  '%',
  '_',
  '%%__%%',
  '\\',
  "'",
  "' OR '1'='1",
  "x'; DROP TABLE runs; --",
  '1) UNION SELECT * FROM api_keys --',
  '"; --',
  '*',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  '[object Object]',
  'null',
  'NaN',
  '-1',
  '1.5',
  '1e999',
  '0x10',
  '9'.repeat(400),
  '-99999999999999999999',
  '2025-02-30T00:00:00Z',
  '+275761-01-01T00:00:00Z',
  '\u0000',
  'a\u0000b',
  'a\r\nX-Injected: 1',
  '\u001b[31m',
  '\u202e\u2066',
  '💥'.repeat(40),
  'x'.repeat(5000),
]

/** Escapes that do not decode to a text. */
export const BROKEN_ESCAPES: readonly string[] = [
  '%',
  '%2',
  '%zz',
  '%ff',
  '%c0%80',
  '%ed%a0%80',
  '%f8%88%80%80%80',
  '%u0041',
]

/** Values for the members of a body. */
export const HOSTILE_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  Number.MAX_SAFE_INTEGER,
  [],
  [[]],
  {},
  { length: 1e9 },
  { toString: 'x' },
  ...HOSTILE_TEXTS,
  '\ud800',
  'x'.repeat(100_000),
]

const deep = (open: string, close: string) => open.repeat(10_000) + close.repeat(10_000)

/** Whole bodies as sent over the wire. None is a JSON object. */
export const NO_OBJECTS: readonly (string | Uint8Array)[] = [
  '{',
  'nul',
  'NaN',
  "{'a':1}",
  '{"a":1,}',
  '{"a":1}{"b":2}',
  '{"a":"\u0001"}',
  '\ufeff{}x',
  '[',
  '[]',
  'null',
  '0',
  '"text"',
  'true',
  deep('[', ']'),
  `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
  '['.repeat(500_000),
  Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  Buffer.from('{"a":1}', 'utf16le'),
  Buffer.from([0]),
]

/** Members of an object as JSON text, with lone surrogates and with keys that only JSON text can express. */
export const HOSTILE_MEMBERS: readonly string[] = [
  '"__proto__":{"admin":true}',
  '"constructor":{"prototype":{"admin":true}}',
  '"toString":null',
  '"":1',
  '"\\u0000":"\\ud800"',
  `"deep":${deep('[', ']').slice(9_900, 10_100)}`,
  '"huge":1e999999,"tiny":1e-999999,"long":123456789012345678901234567890',
]

/** Every copy of `whole` in which one part, at any depth, is `value`. */
export function forgeries(whole: unknown, value: unknown): unknown[] {
  if (typeof whole !== 'object' || whole === null) return [value]
  const deeper = Object.entries(whole).flatMap(([key, part]) =>
    forgeries(part, value).map(forged =>
      Array.isArray(whole) ? whole.with(Number(key), forged) : { ...whole, [key]: forged },
    ),
  )
  return [value, ...deeper]
}

/** Sends the bytes; resolves with everything that came back until the other side closed. */
export function rawExchange(url: string, bytes: string | Uint8Array): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const received = new Promise<string>(resolve => {
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', chunk => {
      text += chunk
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
  })
  socket.write(bytes)
  return within(received, 'the end of the connection', 15_000).finally(() => socket.destroy())
}
