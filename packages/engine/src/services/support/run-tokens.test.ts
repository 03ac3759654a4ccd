// Tokens of one store key that serve different purposes, and tokens of two stores.

import { createHmac, hkdfSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { CallbackTokens } from './callback-tokens.ts'
import { PassTokens } from './pass-tokens.ts'
import { RunTokens } from './run-tokens.ts'

const GRANT = { namespace: 'team a', runId: 'run_1', expiresAt: 17, keyId: 'key_1', keyPrint: 'abc' }

test('a token gives back what it was made of, at every engine of the store and at no other', () => {
  const token = new RunTokens('store').tokenOf(GRANT)
  expect(new RunTokens('store').read(token)).toEqual(GRANT)
  expect(new RunTokens('another store').read(token)).toBeUndefined()
})

test('no other token of the engine passes for one, nor one for another', () => {
  const [runs, passes, callbacks] = [new RunTokens('store'), new PassTokens('store'), new CallbackTokens('store')]
  const token = runs.tokenOf(GRANT)
  const pass = passes.tokenOf({ engine: 'e', no: 1, runId: 'run_1' })
  const callback = `${callbacks.prefixOf('default', 'run_1')}step.00`
  for (const text of [token, token.slice('pdt_'.length)])
    expect([passes.read(text), callbacks.read(text)]).toEqual([undefined, undefined])
  for (const text of [pass, callback])
    expect([runs.read(text), runs.read(`pdt_${text}`)]).toEqual([undefined, undefined])
})

test('a token that is signed with a secret of another purpose is not valid', () => {
  const head = new RunTokens('store').tokenOf(GRANT).slice('pdt_'.length).split('.')[0] ?? ''
  for (const purpose of ['callbacks of runs', 'checkpoints of a pass', '']) {
    const secret = Buffer.from(hkdfSync('sha256', 'store', '', purpose, 32))
    const signature = createHmac('sha256', secret).update(head).digest().toString('base64url', 0, 24)
    expect(new RunTokens('store').read(`pdt_${head}.${signature}`), purpose).toBeUndefined()
  }
})

test('the print of a key depends on its text and its kind, and on the store', () => {
  const prints = [
    new RunTokens('store').printOf({ hash: 'a', kind: 'read' }),
    new RunTokens('store').printOf({ hash: 'b', kind: 'read' }),
    new RunTokens('store').printOf({ hash: 'a', kind: 'secret' }),
    new RunTokens('another store').printOf({ hash: 'a', kind: 'read' }),
  ]
  expect(new Set(prints).size).toBe(prints.length)
})
