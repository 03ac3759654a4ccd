// The suites in the order in which they run.

export const NAMES = [
  'sim',
  'teeth',
  'crashpoints',
  'powerloss',
  'shutdown',
  'disk',
  'kill',
  'timers',
  'clock',
  'runner-faults',
  'overload',
  'fencing',
  'cluster',
  'soak',
] as const

export type SuiteName = (typeof NAMES)[number]
