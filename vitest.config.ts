// One project per kind of test, so that each can be run alone: `npm run test:unit`, `test:contract`, ...
import { defineConfig } from 'vitest/config'

const conditions = ['perdure-source', 'node', 'import', 'module', 'default']
const project = (name: string, include: string[], testTimeout: number) => ({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    name,
    include,
    testTimeout,
    hookTimeout: 30_000,
    environment: 'node' as const,
    setupFiles: ['test/kit/close-opened.ts'],
    // The files of a worker share what they import: loading it anew for each would take a third of the time.
    isolate: false,
  },
})

export default defineConfig({
  test: {
    // Most tests wait for a disk, a socket or another process: a few more than there are cores keep them busy.
    maxWorkers: '150%',
    projects: [
      project('unit', ['packages/*/src/**/*.test.ts'], 30_000),
      project('contract', ['test/contract/**/*.test.ts'], 60_000),
      project('scenario', ['test/scenario/**/*.test.ts'], 60_000),
      project('faults', ['test/faults/**/*.test.ts'], 180_000),
      project('sim', ['test/sim/**/*.test.ts'], 180_000),
    ],
  },
})
