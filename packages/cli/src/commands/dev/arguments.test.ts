// The arguments of `perdure dev`: the file may stand anywhere among the flags.

import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parseDevArguments } from './arguments.ts'

const ENTRY = 'packages/cli/src/main.ts'
const known = ['port', 'store']

test.each([
  [[], { flags: {} }],
  [['--quiet', ENTRY], { flags: {}, quiet: true, entry: resolve(ENTRY) }],
  [[ENTRY], { flags: {}, entry: resolve(ENTRY) }],
  [[ENTRY, '--port', '1'], { flags: { port: '1' }, entry: resolve(ENTRY) }],
  [['--port', '1', ENTRY, '--store=x'], { flags: { port: '1', store: 'x' }, entry: resolve(ENTRY) }],
  [['--port=1', ENTRY], { flags: { port: '1' }, entry: resolve(ENTRY) }],
  [['--port', '1'], { flags: { port: '1' } }],
])('%j', (args, read) => {
  expect(parseDevArguments(args, known)).toEqual({ quiet: false, ...read })
})
