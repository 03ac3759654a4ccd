// The groups of cases, separate from the schema of the cases, which takes long to load. Called by index.ts and cases.ts.

/** Each has a file with its name. They are played in this order. */
export const GROUPS = [
  'sequences',
  'parallel',
  'retries',
  'attempts',
  'errors',
  'sleeps',
  'waits',
  'children',
  'effects',
  'races',
  'failures',
  'logs',
  'messages',
  'reports',
  'versions',
  'signatures',
  'connect',
] as const
export type Group = (typeof GROUPS)[number]
