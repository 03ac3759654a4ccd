// Orders the test files: the longest begin first, so that none of them runs at the end while the other workers are idle.
// vitest.config.ts sets it.

import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The longest files and folders, measured, then the usual time of a file in each folder. */
const LONGEST = [
  'test/faults/cluster-kill',
  'test/faults/cluster-ended-kill',
  'test/sim/sim',
  'test/faults/delivery-kill-loop',
  'test/faults/kill-loop',
  'test/faults/postgres-connections',
  'test/faults/cluster-deploy',
  'test/sim/control-model',
  'test/scenario/docs/examples',
  'test/console/many-runs',
  'test/console/',
  'test/sim/',
  'test/faults/',
  'test/contract/store/',
  'packages/sdk/src/replay/exactness',
  'test/scenario/cluster/crashing-steps',
  'test/scenario/sdk/crashing-steps',
  'test/scenario/http/hostile',
  'test/scenario/docs/',
  'test/scenario/cli/',
  'test/scenario/sdk/',
  'test/scenario/operating/',
  'test/scenario/cluster/',
  'test/contract/',
  'test/conformance/',
  'test/scenario/',
]

export class LongestFirst extends BaseSequencer {
  /** Keeps the files of a project together: a worker serves one project. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = [...new Set(files.map(({ project }) => project.name))]
    const rank = ({ project, moduleId }: TestSpecification) => {
      const path = moduleId.slice(project.config.root.length + 1)
      return projects.indexOf(project.name) * (LONGEST.length + 1) + rankOf(path)
    }
    // Uses only names, so a fresh checkout has the same order as one with a cache of durations.
    return [...files].sort((a, b) => rank(a) - rank(b) || (a.moduleId < b.moduleId ? -1 : 1))
  }
}

function rankOf(path: string): number {
  const rank = LONGEST.findIndex(beginning => path.startsWith(beginning))
  return rank === -1 ? LONGEST.length : rank
}
