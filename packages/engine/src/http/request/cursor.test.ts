import { describe, expect, test } from 'vitest'
import { type CursorScope, decodeCursor, encodeCursor, readNumber as read } from './cursor.ts'

const scope: CursorScope = { kind: 'runs', namespace: 'default', filter: { app: 'shop', status: undefined } }
const refused = expect.objectContaining({ code: 'invalid_cursor' })

const forge = (parts: unknown): string => Buffer.from(JSON.stringify(parts)).toString('base64url')
const parts = (): Record<string, unknown> => JSON.parse(Buffer.from(encodeCursor(scope, [42]), 'base64url').toString())

describe('cursors', () => {
  test('decode to the position that they encode', () => {
    expect(decodeCursor(encodeCursor(scope, [42]), scope, read)).toBe(42)
  })

  test('fit into a URL as they are', () => {
    expect(encodeCursor({ ...scope, namespace: 'ø/?&#' }, [42, 'run_>>>???'])).toMatch(/^[\w-]+$/)
  })

  test('do not depend on the order of filters or on absent ones', () => {
    const cursor = encodeCursor({ ...scope, filter: { a: '1', b: '2', c: undefined } }, [42])
    expect(decodeCursor(cursor, { ...scope, filter: { b: '2', a: '1' } }, read)).toBe(42)
  })

  test.each<[string, CursorScope]>([
    ['kind', { ...scope, kind: 'events' }],
    ['namespace', { ...scope, namespace: 'other' }],
    ['filter', { ...scope, filter: { app: 'other' } }],
    ['more filters', { ...scope, filter: { app: 'shop', status: 'failed' } }],
    ['fewer filters', { ...scope, filter: {} }],
  ])('of another %s are refused', (_, other) => {
    expect(() => decodeCursor(encodeCursor(scope, [42]), other, read)).toThrow(refused)
  })

  test.each<[string, string]>([
    ['empty', ''],
    ['not base64url', '%%%'],
    ['base64 with padding', `${encodeCursor(scope, [42])}=`],
    ['with characters to skip', `${encodeCursor(scope, [42])}\n`],
    ['not JSON', Buffer.from('{').toString('base64url')],
    ['null', forge(null)],
    ['a list', forge([1])],
    ['without position', forge({ ...parts(), position: undefined })],
    ['with a position that is no list', forge({ ...parts(), position: 42 })],
    ['with an impossible position', forge({ ...parts(), position: ['42'] })],
    ['with a negative position', forge({ ...parts(), position: [-1] })],
    ['too long', forge({ ...parts(), more: 'x'.repeat(4096) })],
  ])('that are %s are refused', (_, cursor) => {
    expect(() => decodeCursor(cursor, scope, read)).toThrow(refused)
  })
})
