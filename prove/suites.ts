// Every suite by its name, in the order in which they run. A suite is loaded when it is used: it reads the addresses of the servers
// then. A new suite is a file in `suites`, with an entry here.

import type { Suite } from './suite.ts'

export const SUITES: Readonly<Record<string, () => Promise<Suite>>> = {
  sim: async () => (await import('./suites/sim.ts')).sim,
  teeth: async () => (await import('./suites/teeth.ts')).teeth,
  crashpoints: async () => (await import('./suites/crashpoints.ts')).crashpoints,
  powerloss: async () => (await import('./suites/powerloss.ts')).powerloss,
  shutdown: async () => (await import('./suites/shutdown.ts')).shutdown,
  disk: async () => (await import('./suites/disk.ts')).disk,
  files: async () => (await import('./suites/files.ts')).files,
  kill: async () => (await import('./suites/kill.ts')).kill,
  timers: async () => (await import('./suites/timers.ts')).timers,
  clock: async () => (await import('./suites/clock.ts')).clock,
  'runner-faults': async () => (await import('./suites/runner-faults.ts')).runnerFaults,
  'crashing-steps': async () => (await import('./suites/crashing-steps.ts')).crashingSteps,
  between: async () => (await import('./suites/between.ts')).between,
  vanish: async () => (await import('./suites/vanish.ts')).vanish,
  'redis-silence': async () => (await import('./suites/redis-silence.ts')).redisSilence,
  overload: async () => (await import('./suites/overload.ts')).overload,
  'large-states': async () => (await import('./suites/large-states.ts')).largeStates,
  fencing: async () => (await import('./suites/fencing.ts')).fencing,
  cluster: async () => (await import('./suites/cluster.ts')).cluster,
  soak: async () => (await import('./suites/soak.ts')).soak,
}

export const NAMES = Object.keys(SUITES)
