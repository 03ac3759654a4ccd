// `perdure workflows delete` and `perdure apps delete`: the question, and the request, against a server that answers like an
// engine.

import { expect, test } from 'vitest'
import { openServer } from '../../../client/src/server.testkit.ts'
import { ran } from '../ran.testkit.ts'

const engine = () => openServer(response => response.writeHead(204).end())

test('without a terminal nothing is deleted before --yes is given', async () => {
  const { seen, url } = await engine()
  for (const command of [
    ['workflows', 'delete', 'shop', 'order'],
    ['apps', 'delete', 'shop'],
  ]) {
    const { code, stderr } = await ran([...command, '--url', url])
    expect(stderr).toContain('add --yes')
    expect(code).toBe(2)
  }
  expect(seen).toEqual([])
})

test('--force is sent', async () => {
  const { seen, url } = await engine()
  const { code, stdout, stderr } = await ran(['workflows', 'delete', 'shop', 'order', '--yes', '--force', '--url', url])
  expect([code, stdout.trim()], stderr).toEqual([0, 'order is deleted'])
  const app = await ran(['apps', 'delete', 'shop', '--yes', '--json', '--url', url])
  expect(JSON.parse(app.stdout)).toEqual({ app: 'shop', deleted: true })
  expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'DELETE /workflows/shop/order?force=1',
    'DELETE /apps/shop',
  ])
})
