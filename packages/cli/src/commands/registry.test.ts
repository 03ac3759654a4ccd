// `perdure workflows delete` and `perdure apps delete`: the question, and the request, against a server that answers like an
// engine.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { ran } from '../ran.testkit.ts'

async function engine() {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    response.writeHead(204).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('without a terminal nothing is deleted before --yes is given', async () => {
  const { requests, url } = await engine()
  for (const command of [
    ['workflows', 'delete', 'shop', 'order'],
    ['apps', 'delete', 'shop'],
  ]) {
    const { code, stderr } = await ran([...command, '--url', url])
    expect(stderr).toContain('add --yes')
    expect(code).toBe(2)
  }
  expect(requests).toEqual([])
})

test('--force is sent', async () => {
  const { requests, url } = await engine()
  const { code, stdout, stderr } = await ran(['workflows', 'delete', 'shop', 'order', '--yes', '--force', '--url', url])
  expect([code, stdout.trim()], stderr).toEqual([0, 'order is deleted'])
  const app = await ran(['apps', 'delete', 'shop', '--yes', '--json', '--url', url])
  expect(JSON.parse(app.stdout)).toEqual({ app: 'shop', deleted: true })
  expect(requests).toEqual(['DELETE /workflows/shop/order?force=1', 'DELETE /apps/shop'])
})
