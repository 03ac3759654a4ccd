// The table of routes against the operations it copies, and the types that come of it.

import type { Run, RunSummary, TimelineFrame } from '@perdure/protocol'
import { type Operation, operations } from '@perdure/protocol/operations'
import { expect, expectTypeOf, test } from 'vitest'
import { ROUTES } from './routes.ts'
import type { Client, Page } from './types.ts'

test('every operation but the WebSocket and the metrics has its route, and every route its operation', () => {
  const manner = ({ reply }: Operation) => (reply.stream ? ' stream' : reply.pages ? ' pages' : '')
  expect(ROUTES).toEqual(
    Object.fromEntries(
      Object.entries(operations as Record<string, Operation>)
        .filter(([, { reply }]) => reply.status !== 101 && !reply.contentType)
        .map(([id, operation]) => [id, `${operation.method} ${operation.path}${manner(operation)}`]),
    ),
  )
})

test('an operation is called with its path and query side by side and its body', () => {
  expectTypeOf<Client['getRun']>().parameter(0).toEqualTypeOf<{ id: string }>()
  expectTypeOf<Client['getRun']>().returns.resolves.toEqualTypeOf<Run>()
  expectTypeOf<Client['listRuns']>().returns.resolves.toEqualTypeOf<Page<RunSummary>>()
  expectTypeOf<Client['streamRun']>().returns.toEqualTypeOf<AsyncGenerator<TimelineFrame, void, undefined>>()
  expectTypeOf<Client['sendEvent']>().parameter(0).toHaveProperty('body')
  expectTypeOf<Client['pages']>().toHaveProperty('listEvents')
  // Read by the compiler alone: each of the refused ones must be an error.
  const calls = (client: Client) => [
    client.listRuns(),
    client.listRuns({ status: 'failed', deep: true, since: new Date(), limit: 5 }),
    client.listRuns({ since: '2026-01-01T00:00:00Z' }),
    client.replayRun({ id: 'run_1' }),
    client.replayRun({ id: 'run_1', body: { input: null } }),
    // @ts-expect-error a status that does not exist
    client.listRuns({ status: 'done' }),
    // @ts-expect-error the id is needed
    client.getRun(),
    // @ts-expect-error the body is needed
    client.sendEvent({}),
    // @ts-expect-error there is no such parameter
    client.getRun({ id: 'run_1', deep: true }),
    // @ts-expect-error this one takes no body
    client.cancelRun({ id: 'run_1', body: {} }),
    // @ts-expect-error this list has no pages
    client.pages.listApps(),
  ]
  expect(calls).toBeTypeOf('function')
})
