// Every suite by its name. A new suite is a file in `suites`, with an entry here and in `names.ts`.

import type { SuiteName } from './names.ts'
import type { Suite } from './suite.ts'
import { between } from './suites/between.ts'
import { clock } from './suites/clock.ts'
import { cluster } from './suites/cluster.ts'
import { crashingSteps } from './suites/crashing-steps.ts'
import { crashpoints } from './suites/crashpoints.ts'
import { disk } from './suites/disk.ts'
import { fencing } from './suites/fencing.ts'
import { files } from './suites/files.ts'
import { kill } from './suites/kill.ts'
import { largeStates } from './suites/large-states.ts'
import { overload } from './suites/overload.ts'
import { powerloss } from './suites/powerloss.ts'
import { redisSilence } from './suites/redis-silence.ts'
import { runnerFaults } from './suites/runner-faults.ts'
import { shutdown } from './suites/shutdown.ts'
import { sim } from './suites/sim.ts'
import { soak } from './suites/soak.ts'
import { teeth } from './suites/teeth.ts'
import { timers } from './suites/timers.ts'
import { vanish } from './suites/vanish.ts'

export const SUITES: Readonly<Record<SuiteName, Suite>> = {
  sim,
  teeth,
  crashpoints,
  powerloss,
  shutdown,
  disk,
  files,
  kill,
  timers,
  clock,
  'runner-faults': runnerFaults,
  'crashing-steps': crashingSteps,
  between,
  vanish,
  'redis-silence': redisSilence,
  overload,
  'large-states': largeStates,
  fencing,
  cluster,
  soak,
}
