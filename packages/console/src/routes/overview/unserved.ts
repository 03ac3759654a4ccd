// The apps, and individual workflows of other apps, that no live runner serves. Pure.

import { keyOf, serversOf } from '../workflows/served.ts'

export interface Registered {
  app: string
  name: string
}

export interface RunnerFacts {
  app: string
  runnerId: string
  live: boolean
  lastSeenAt: string
  workflows: readonly { name: string }[]
}

interface Held {
  app: string
  workflow: string
  heldBy: Readonly<Record<string, number>>
}

export interface Unserved {
  app: string
  /** Absent: the whole app has no live runner. */
  workflow?: string
  /** Runs that wait for a runner. */
  waiting: number
  /** When a runner of the app was last seen; absent if one is live, or if none is known. */
  lastSeenAt?: string
}

/** Returns those with the most waiting runs first. */
export function unserved(
  workflows: readonly Registered[],
  runners: readonly RunnerFacts[],
  stats: readonly Held[],
): Unserved[] {
  const servers = serversOf(runners)
  const alive = new Set(runners.flatMap(({ app, live }) => (live ? [app] : [])))
  const waitingOf = (is: (of: Held) => boolean) =>
    stats.filter(is).reduce((sum, { heldBy }) => sum + (heldBy.runner ?? 0), 0)
  const apps = [...new Set(workflows.map(({ app }) => app))].filter(app => !alive.has(app))
  const ofApps = apps.map((app): Unserved => {
    const seen = runners.flatMap(each => (each.app === app ? [each.lastSeenAt] : [])).sort()
    const lastSeenAt = seen.at(-1)
    return { app, waiting: waitingOf(of => of.app === app), ...(lastSeenAt !== undefined && { lastSeenAt }) }
  })
  const ofWorkflows = workflows
    .filter(workflow => alive.has(workflow.app) && !servers.has(keyOf(workflow)))
    .map(({ app, name }) => ({ app, workflow: name, waiting: waitingOf(of => of.app === app && of.workflow === name) }))
  return [...ofApps, ...ofWorkflows].sort((a, b) => b.waiting - a.waiting)
}
