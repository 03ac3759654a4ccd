// Compares the table of routes with the protocol's operations, and checks the types derived from them.

import type { ListedRun, Run, TimelineFrame } from '@perdure/protocol'
import { type Operation, operations } from '@perdure/protocol/operations'
import { expect, expectTypeOf, test } from 'vitest'
import type { Client } from './client.ts'
import { ROUTES } from './routes.ts'
import type { RunMethods } from './send.ts'
import type { OperationMethods, Page } from './types.ts'

test('every operation except the WebSocket and the metrics has a route, and every route an operation', () => {
  const kind = ({ reply }: Operation) => (reply.stream ? ' stream' : reply.pages ? ' pages' : '')
  expect(ROUTES).toEqual(
    Object.fromEntries(
      Object.entries(operations as Record<string, Operation>)
        .filter(([, { reply }]) => reply.status !== 101 && !reply.contentType)
        .map(([id, operation]) => [id, `${operation.method} ${operation.path}${kind(operation)}`]),
    ),
  )
})

test('no operation has the name of a method for runs', () => {
  expectTypeOf<keyof RunMethods & keyof OperationMethods>().toEqualTypeOf<never>()
})

test('an operation is called with the values of path and query side by side, and with its body', () => {
  expectTypeOf<Client['getRun']>().parameter(0).toEqualTypeOf<{ id: string }>()
  expectTypeOf<Client['getRun']>().returns.resolves.toEqualTypeOf<Run>()
  expectTypeOf<Client['listRuns']>().returns.resolves.toEqualTypeOf<Page<ListedRun>>()
  expectTypeOf<Client['streamRun']>().returns.toEqualTypeOf<AsyncGenerator<TimelineFrame, void, undefined>>()
  expectTypeOf<Client['sendEvent']>().parameter(0).toHaveProperty('body')
  expectTypeOf<Client['pages']>().toHaveProperty('listEvents')
  // Never called: the compiler checks it, and each line after a directive must be an error.
  const calls = (client: Client) => [
    client.listRuns(),
    client.listRuns({ status: 'failed', deep: true, since: new Date(), limit: 5 }),
    client.listRuns({ since: '2026-01-01T00:00:00Z' }),
    client.cancelRun({ id: 'run_1', body: { cleanup: false } }),
    client.replayRun({ id: 'run_1' }),
    client.replayRun({ id: 'run_1', body: { input: null } }),
    // @ts-expect-error a status that does not exist
    client.listRuns({ status: 'done' }),
    // @ts-expect-error the id is required
    client.getRun(),
    // @ts-expect-error the body is required
    client.sendEvent({}),
    // @ts-expect-error there is no such parameter
    client.getRun({ id: 'run_1', deep: true }),
    // @ts-expect-error the operation takes no body
    client.pauseRun({ id: 'run_1', body: {} }),
    // @ts-expect-error the list has no pages
    client.pages.listApps(),
  ]
  expect(calls).toBeTypeOf('function')
})
