// What the generated pages say of operations in general: the groups, and who may call.

import type { Access, Operation } from './operation.ts'

/** The groups of operations, in the order of the pages. */
export const TAGS: Record<Operation['tag'], { title: string; description: string }> = {
  events: { title: 'Events', description: 'Send events and read the log of them' },
  runs: { title: 'Runs', description: 'Read runs, their steps and logs, and follow them live' },
  control: { title: 'Run control', description: 'Act on runs, and read the audit log of it' },
  registry: { title: 'Apps, runners, workflows', description: 'Register runners and list what they serve' },
  webhooks: { title: 'Webhooks', description: 'Deliveries, endpoints and receivers' },
  health: { title: 'Health', description: 'The probes, and the metrics' },
  meta: { title: 'This interface', description: 'Its description of itself' },
}

const KEYS: Record<Access, string> = {
  public: 'Needs no key.',
  read: 'Opened by keys of kind `secret` and `read`.',
  event: 'Opened by keys of kind `secret` and `event`.',
  runner: 'Opened by keys of kind `secret` and `runner`.',
  secret: 'Opened by keys of kind `secret` alone.',
}

/** Who may call the operation, as a sentence. */
export function accessText({ access, alwaysKeyed }: Operation): string {
  return alwaysKeyed ? `${KEYS[access]} Needs one even where no key is configured.` : KEYS[access]
}
