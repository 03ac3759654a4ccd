// The projects of the test run. `main` has every kind of test, and `npm run test:unit`, `test:contract` and so on
// pick theirs by folder; `console` has those in a browser. The other projects run scenarios once more in another setting.
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { haveChromium } from './test/kit/browser/chromium.ts'
import { ClosingLine } from './test/kit/vitest/closing-line.ts'
import { LongestFirst } from './test/kit/vitest/longest-first.ts'
import { isNight, part } from './test/part.ts'
import { haveServers } from './test/servers.ts'

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
  'test/faults/streams/*.test.ts',
  'test/scenario/**/*-servers.test.ts',
  'test/console/*-servers.browser.test.ts',
]
/** In the gate and in the rest, with other counts. */
const COUNTED = ['test/sim/sim.test.ts', 'test/faults/kill-loop.test.ts']
/** Journeys through the console that the gate has. */
const JOURNEYS = ['bulk', 'flow', 'lists', 'run', 'sign-in', 'webhooks'].map(
  name => `test/console/${name}.browser.test.ts`,
)
/**
 * Tests that the gate leaves to the rest: of several engines, of other programs and platforms, of many kills and seeds, and those
 * that start many processes.
 */
const REST = [
  'examples/ported/*.test.ts',
  'packages/sdk/src/replay/exactness/exactness.test.ts',
  'test/conformance/**/*.test.ts',
  'test/console/**/!(*.browser).test.ts',
  'test/contract/store/runs/paging-walks.test.ts',
  'test/contract/store/sqlite/admin.test.ts',
  'test/faults/!(kill-loop).test.ts',
  'test/faults/streams/*.test.ts',
  'test/prove/*.test.ts',
  'test/scenario/**/*-servers.test.ts',
  'test/scenario/{cli,cluster,deploy,docs,packages}/*.test.ts',
  'test/scenario/http/hostile-*.test.ts',
  'test/scenario/live/stream-load.test.ts',
  'test/scenario/operating/{backup,clock,configuration,drain,failing-starts,health,store-files}.test.ts',
  'test/scenario/sdk/{connect,crashing-steps,late-steps,next,old-node,package,runtimes,testing,waits}.test.ts',
  'test/sim/!(sim).test.ts',
  'test/sim/*/**/*.test.ts',
]
const ALL = ['packages/*/src/**/*.test.ts', 'test/**/!(*.browser).test.ts', 'examples/ported/*.test.ts']
const BROWSER = ['test/console/**/*.browser.test.ts']
const isGate = part === 'gate'
const isRest = part === 'rest'
const hasServers = await haveServers()
const project = (name: string, include: string[], { env = {}, exclude = [] as string[] } = {}) => ({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    name,
    include,
    exclude: ['**/node_modules/**', ...(hasServers ? [] : ON_SERVERS), ...exclude],
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
  'chain/wait-for-run-servers',
  'cleanup/cleanup-servers',
  'event/callbacks',
  'event/intake',
  'event/signals-servers',
  'flow/{cancel-on,concurrency,fairness,kept-slots,singleton,throttle,timeouts}',
  'limit/step-limits-servers',
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
  'start/children',
  'start/emit-lists',
  'start/keys',
  'start/start-run',
].map(name => `test/scenario/${name}.test.ts`)

/**
 * Scenarios that depend most on the store. The project `postgres` runs them once more on PostgreSQL; `test:night`
 * runs all of them there.
 */
const ON_POSTGRES = [
  'event/callbacks',
  'event/intake',
  'flow/concurrency',
  'flow/cron',
  'flow/singleton',
  'flow/throttle',
  'pass/run-workflow',
  'pass/wait-for-event',
  'run/pause',
  'start/keys',
  'start/start-run',
].map(name => `test/scenario/${name}.test.ts`)
/** Scenarios of what the engine decides when an event arrives, whichever runner there is. */
const ARRIVALS = [
  'event/matching',
  'flow/{batch,cron,debounce,deliver,idempotency,limits,missing-keys,operator-limits,rate-limit,starts}',
].map(name => `test/scenario/${name}.test.ts`)
/** Everything but scenarios about engine processes, which have PostgreSQL files of their own, and those on both databases. */
const ALL_ON_POSTGRES = [...OVER_CONNECT, ...ON_POSTGRES, ...ARRIVALS].filter(path => !/\/drain\.|-servers/.test(path))

/** Scenarios once more. */
const again = [
  project('connect', OVER_CONNECT, { env: { PERDURE_TEST_TRANSPORT: 'connect', PERDURE_TEST_STORE: 'disk' } }),
  ...(hasServers
    ? [project('postgres', isNight ? ALL_ON_POSTGRES : ON_POSTGRES, { env: { PERDURE_TEST_STORE: 'postgres' } })]
    : []),
]

export default defineConfig({
  test: {
    // More workers than cores: most tests wait for a disk, a socket or another process, those of the rest most of all. (A
    // percentage above 100 would be cut to the cores.)
    maxWorkers: availableParallelism() + (isRest ? 2 : 1),
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new ClosingLine()],
    // Keeps transformed modules on disk, for the other projects, the rest after the gate, and the next run.
    experimental: { fsModuleCache: true },
    projects: [
      project('main', isRest ? [...REST, ...COUNTED] : ALL, {
        exclude: ['**/*.browser.test.ts', ...(isGate ? REST : [])],
      }),
      ...(haveChromium() ? [project('console', isGate ? JOURNEYS : BROWSER, { exclude: isRest ? JOURNEYS : [] })] : []),
      ...(isGate ? [] : again),
    ],
  },
})
