// What is mounted is what is described, and the other way round.

import { type Operation, operations } from '@perdure/protocol/operations'
import { expect, test } from 'vitest'
import { testApp } from './http.testkit.ts'

/** `METHOD /path/{placeholder}` of every route, read from the router's own tree; a HEAD goes with its GET. */
function mounted(tree: string): string[] {
  const parents: string[] = []
  return tree.split('\n').flatMap(line => {
    const [, indent = '', part = '', methods = ''] = /^(.*?)(\/\S*) \((.*)\)$/.exec(line) ?? []
    const depth = indent.length / 4
    const path = (parents[depth - 1] ?? '') + part
    parents[depth] = path
    const shown = path.replace(/:(\w+)/g, '{$1}')
    return methods.split(', ').flatMap(method => (/^(HEAD)?$/.test(method) ? [] : [`${method} ${shown}`]))
  })
}

/** Only to refuse: the router would take these literal paths for ids. */
const REFUSED = ['GET /runs/bulk-replay', 'DELETE /webhook-endpoints/stats', 'PATCH /webhook-endpoints/stats']

test('every route is an operation, and every operation has its route', async () => {
  const { app } = testApp()
  await app.ready()
  const described = Object.values<Operation>(operations).map(({ method, path }) => `${method} ${path}`)
  expect(mounted(app.printRoutes({ commonPrefix: false })).sort()).toEqual([...described, ...REFUSED].sort())
})
