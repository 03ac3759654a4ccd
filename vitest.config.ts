// Every kind of test in one project, whose files share what they import; `npm run test:unit`, `test:contract` and so on
// pick theirs by folder. Scenarios that run once more in another setting are projects of their own.
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { ClosingLine } from './test/kit/vitest/closing-line.ts'
import { LongestFirst } from './test/kit/vitest/longest-first.ts'
import { haveServers, isAll } from './test/servers.ts'

// No `import` or `module`: workers hand these to Node, whose `require` would then find ES modules.
const conditions = ['perdure-source', 'node']
/** Tests that need PostgreSQL or Redis. */
const ON_SERVERS = [
  'test/contract/store/{postgres,migrations}.test.ts',
  'test/contract/store/postgres/*.test.ts',
  'test/contract/queue/shared.test.ts',
  'test/contract/limiter/redis.test.ts',
  'test/scenario/cluster/*.test.ts',
  'test/faults/cluster*.test.ts',
  'test/faults/postgres*.test.ts',
  'test/scenario/**/*-servers.test.ts',
]
const hasServers = await haveServers()
const project = (name: string, include: string[], env = {}) => ({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    name,
    include,
    exclude: ['**/node_modules/**', ...(hasServers ? [] : ON_SERVERS)],
    // Of the longest, which kill processes for a minute; what waits inside a test has deadlines of its own.
    testTimeout: 180_000,
    env,
    hookTimeout: 30_000,
    environment: 'node' as const,
    setupFiles: ['test/kit/vitest/close-opened.ts'],
    // The files of a worker share what they import: loading it anew for each would take a third of the time.
    isolate: false,
    // Tests make much short-lived garbage: with a larger nursery less of it is copied.
    execArgv: ['--max-semi-space-size=64'],
  },
})

/**
 * Scenarios in which a runner takes part: `connect` tells them once more, with runners behind a socket. Left out are
 * those about HTTP itself (transport, wire, registration), and those whose runs only fill lists.
 */
const OVER_CONNECT = [
  'admin/suspended',
  'event/intake',
  'event/matching',
  'flow/*',
  'live/run-stream',
  'operating/drain',
  'pass/emit',
  'pass/logs',
  'pass/parallel',
  'pass/routing',
  'pass/run-workflow',
  'pass/sleep',
  'pass/step-limit',
  'pass/step-retry',
  'pass/wait-for-event',
  'pass/webhook-step',
  'run/cancel',
  'run/control-moments',
  'run/fork',
  'run/on-failure',
  'run/pause',
  'run/why',
].map(name => `test/scenario/${name}.test.ts`)

/** Scenarios that lean on the store most: `postgres` tells them once more on PostgreSQL, and all of them in `test:all`. */
const ON_POSTGRES = [
  'event/intake',
  'flow/concurrency',
  'flow/cron',
  'flow/singleton',
  'flow/throttle',
  'pass/run-workflow',
  'pass/wait-for-event',
  'run/pause',
].map(name => `test/scenario/${name}.test.ts`)
/** Left out: what is about processes, which have files of their own. */
const ALL_ON_POSTGRES = [...OVER_CONNECT, ...ON_POSTGRES].filter(path => !path.includes('/drain.'))

export default defineConfig({
  test: {
    // Most tests wait for a disk, a socket or another process: one more than there are cores keeps them busy.
    // (A percentage above 100 would be cut to the cores.)
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new ClosingLine()],
    projects: [
      project('main', ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts']),
      project('connect', OVER_CONNECT, { PERDURE_TEST_TRANSPORT: 'connect', PERDURE_TEST_STORE: 'disk' }),
      ...(hasServers
        ? [
            project('postgres', isAll ? ALL_ON_POSTGRES : ON_POSTGRES, {
              PERDURE_TEST_STORE: 'postgres',
            }),
          ]
        : []),
    ],
  },
})
