// Under Yarn's Plug'n'Play the thread finds packages only with certain flags of the process. No other flag may reach it.

import { afterEach, expect, test } from 'vitest'
import { packageFlags } from '../../../../packages/engine/src/adapters/sql/sqlite/worker-host.ts'

const PNP =
  '--require ./first.cjs --require /app/.pnp.cjs --experimental-loader file:///app/.pnp.loader.mjs --max-old-space-size=99'

afterEach(() => {
  Reflect.deleteProperty(process.versions, 'pnp')
})

test("the thread gets the flags of Plug'n'Play alone", () => {
  expect(packageFlags(PNP)).toEqual([])
  Object.assign(process.versions, { pnp: '3' })
  expect(packageFlags(PNP)).toEqual(['--require=/app/.pnp.cjs', '--experimental-loader=file:///app/.pnp.loader.mjs'])
  expect(packageFlags('--require "/my app/.pnp.cjs"')).toEqual(['--require=/my app/.pnp.cjs'])
  expect(packageFlags(undefined)).toEqual([])
})
