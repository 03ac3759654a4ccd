// Unknown options are refused by name, wherever options are taken.

import { createClient, defineEvent } from '@perdure/client'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { connect } from '../connect/connect.ts'
import { createHandler } from '../runner/handler.ts'
import { perdure as fastifyPlugin } from '../serve/fastify.ts'
import { createFetchHandler } from '../serve/fetch.ts'
import { serve as serveHono } from '../serve/hono.ts'
import { serve as serveNext } from '../serve/next.ts'
import { serve } from '../serve/node.ts'
import { testEngine } from '../testing/test-engine.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'

const handler = { app: 'shop', workflows: [] }
const workflow = (options: object) => () => createWorkflow({ name: 'w', ...options } as { name: string }, () => 1)

test.each<[string, () => unknown, string]>([
  [
    'createWorkflow',
    workflow({ retires: { maxAttempts: 3 } }),
    'Workflow "w" has no option "retires"; did you mean "retry"?',
  ],
  [
    'a policy',
    workflow({ concurrency: [{ limt: 1 }] }),
    'Workflow "w": concurrency has no option "limt"; did you mean "limit"?',
  ],
  [
    'retry',
    workflow({ retry: { attempts: 1 } }),
    'Workflow "w": retry has no option "attempts"; did you mean "maxAttempts"?',
  ],
  [
    'a trigger',
    workflow({ triggers: { evnet: 'x' } }),
    'Workflow "w": triggers has no option "evnet"; did you mean "event"?',
  ],
  [
    'createHandler',
    () => createHandler({ ...handler, singingKey: 'k' } as never),
    'createHandler has no option "singingKey"; did you mean "signingKey"?',
  ],
  [
    'createFetchHandler',
    () => createFetchHandler({ ...handler, port: 1 } as never),
    'createHandler has no option "port"; known are app',
  ],
  ['serve on Node', () => serve({ ...handler, prot: 1 } as never), 'serve has no option "prot"; did you mean "port"?'],
  [
    'serve in Hono',
    () => serveHono({} as never, { ...handler, uri: 'x' } as never),
    'serve has no option "uri"; did you mean "url"?',
  ],
  [
    'serve in Next.js',
    () => serveNext({ ...handler, registr: false } as never),
    'serve has no option "registr"; did you mean "register"?',
  ],
  [
    'the Fastify plugin',
    () => fastifyPlugin({} as never, { ...handler, prefix: '/x', pth: '/i' } as never),
    'perdure has no option "pth"; did you mean "path"?',
  ],
  [
    'connect',
    () => connect({ ...handler, maxConcurency: 1 } as never),
    'connect has no option "maxConcurency"; did you mean "maxConcurrency"?',
  ],
  [
    'createClient',
    () => createClient({ apikey: 'k' } as never),
    'createClient has no option "apikey"; did you mean "apiKey"?',
  ],
  [
    'testEngine',
    () => testEngine({ workflows: [], sed: 2 } as never),
    'testEngine has no option "sed"; did you mean "seed"?',
  ],
])('%s', async (_what, call, message) => {
  // `serve` rejects, the others throw.
  await expect((async () => call())()).rejects.toThrow(message)
})

test.each<[string, () => unknown]>([
  ['serve', () => serve(handler)],
  ['connect', () => connect(handler)],
])('%s refuses an empty list of workflows', async (what, call) => {
  const message = `${what}: \`workflows\` is an empty list, so app "shop" would have nothing to run`
  await expect((async () => call())()).rejects.toThrow(message)
})

test('known options, and those that are undefined, are taken', () => {
  const paid = defineEvent('paid', z.object({ id: z.string() }))
  const options = {
    colour: undefined,
    triggers: [paid, { event: paid, if: 'true' }],
    cancelOn: [{ event: 'x', if: 'true', match: 'data.id', timeout: '1h' }],
  }
  expect(workflow(options)).not.toThrow()
})
