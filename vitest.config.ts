// The projects of the test run. `main` has every kind of test, and `npm run test:unit`, `test:contract` and so on
// pick theirs by folder. The other projects run scenarios once more in another setting.
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { haveChromium } from './test/kit/browser/chromium.ts'
import { ClosingLine } from './test/kit/vitest/closing-line.ts'
import { LongestFirst } from './test/kit/vitest/longest-first.ts'
import { haveServers, isAll } from './test/servers.ts'

// Without `import` or `module`: workers pass these to Node, whose `require` would then find ES modules.
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
  'test/console/*-servers.browser.test.ts',
]
const hasServers = await haveServers()
const project = (name: string, include: string[], env = {}) => ({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    name,
    include,
    exclude: ['**/node_modules/**', ...(hasServers ? [] : ON_SERVERS)],
    // Enough for the longest tests, which kill processes for a minute. Waits inside a test have deadlines of their
    // own.
    testTimeout: 180_000,
    env,
    hookTimeout: 30_000,
    // As long as a browser waits for an element.
    expect: { poll: { timeout: 10_000 } },
    environment: 'node' as const,
    setupFiles: ['test/kit/vitest/close-opened.ts'],
    // The files of a worker share what they import: loading it anew for each file would take a third of the time.
    isolate: false,
    // Tests make much short-lived garbage. A larger nursery copies less of it.
    execArgv: ['--max-semi-space-size=64'],
  },
})

/**
 * Scenarios in which a runner takes part. The project `connect` runs them once more, with runners behind a socket and
 * stores on disk. Scenarios about HTTP itself (transport, wire, registration) and those whose runs only fill lists
 * are left out.
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
  'pass/missing-workflow',
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

/**
 * Scenarios that depend most on the store. The project `postgres` runs them once more on PostgreSQL; `test:all` runs
 * all of them there.
 */
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
/** Everything but scenarios about engine processes, which have PostgreSQL files of their own. */
const ALL_ON_POSTGRES = [...OVER_CONNECT, ...ON_POSTGRES].filter(path => !path.includes('/drain.'))

export default defineConfig({
  test: {
    // One more worker than cores: most tests wait for a disk, a socket or another process. (A percentage above 100
    // would be cut to the cores.)
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new ClosingLine()],
    projects: [
      project('main', ['packages/*/src/**/*.test.ts', 'test/**/!(*.browser).test.ts']),
      ...(haveChromium() ? [project('console', ['test/console/**/*.browser.test.ts'])] : []),
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
