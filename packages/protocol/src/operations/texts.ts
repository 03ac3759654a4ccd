// Texts that the OpenAPI document and `docs/http-api` share: the groups of operations, and the keys they need.

import type { Group } from './index.ts'
import type { Access, Operation } from './operation.ts'

/** The groups of operations, in the order of the pages. */
export const TAGS: Record<Group, { title: string; description: string }> = {
  events: { title: 'Events', description: 'Send events and read the event log' },
  schedules: { title: 'Schedules', description: 'List, make, pause and fire schedules' },
  runs: { title: 'Runs', description: 'Read runs, their steps and logs, and follow them live' },
  control: { title: 'Run control', description: 'Act on runs, and read the audit log' },
  bulk: { title: 'Many runs at once', description: 'Act on many runs, as jobs that survive restarts' },
  registry: { title: 'Apps, runners, workflows', description: 'Register runners and list what they serve' },
  webhooks: { title: 'Webhooks', description: 'Deliveries, endpoints and receivers' },
  admin: {
    title: 'Keys and sessions',
    description: 'The caller, sessions that expire, and the API keys of a namespace',
  },
  health: { title: 'Health', description: 'Probes, metrics and engines' },
  meta: { title: 'OpenAPI', description: 'The OpenAPI document' },
}

const KEYS: Record<Access, string> = {
  public: 'Needs no key.',
  read: 'Needs a key of kind `read` or `secret`.',
  event: 'Needs a key of kind `event` or `secret`.',
  runner: 'Needs a key of kind `runner` or `secret`.',
  secret: 'Needs a key of kind `secret`.',
}

/** The key that the operation needs, as a sentence. */
export function accessText({ access, alwaysKeyed, readsWith, runToken }: Operation): string {
  const even = alwaysKeyed ? ' Needs it even while no key is configured.' : ''
  const also = readsWith === undefined ? '' : ` With \`${readsWith}=1\` a key of kind \`read\` opens it, too.`
  const token = runToken ? ' A run token of this run opens it, too, as `Authorization: Bearer` or as `?token=`.' : ''
  return KEYS[access] + even + also + token
}
