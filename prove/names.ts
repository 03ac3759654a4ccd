// The suites in the order in which they run.

export const NAMES = [
  'sim',
  'teeth',
  'crashpoints',
  'powerloss',
  'shutdown',
  'disk',
  'files',
  'kill',
  'timers',
  'clock',
  'runner-faults',
  'crashing-steps',
  'between',
  'vanish',
  'redis-silence',
  'overload',
  'large-states',
  'fencing',
  'cluster',
  'soak',
] as const

export type SuiteName = (typeof NAMES)[number]
