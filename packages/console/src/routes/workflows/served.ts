// Facts about schedules and runners for the list of workflows: when a schedule next starts each workflow, and which runners serve
// it. Pure.

/** Returns the key of a workflow, in the maps and in the list. */
export const keyOf = ({ app, name }: { app: string; name: string }) => `${app}\n${name}`

interface Scheduled {
  app?: string | undefined
  workflow?: string | undefined
  next: readonly string[]
}

/** Returns the soonest instant of the schedules of each workflow. */
export function nextStarts(schedules: readonly Scheduled[]): ReadonlyMap<string, string> {
  const soonest = new Map<string, string>()
  for (const { app, workflow, next } of schedules) {
    const [at] = next
    if (app === undefined || workflow === undefined || at === undefined) continue
    const key = keyOf({ app, name: workflow })
    const known = soonest.get(key)
    if (known === undefined || Date.parse(at) < Date.parse(known)) soonest.set(key, at)
  }
  return soonest
}

interface Serving {
  app: string
  runnerId: string
  live: boolean
  workflows: readonly { name: string }[]
}

/** Returns the live runners of each workflow. */
export function serversOf(runners: readonly Serving[]): ReadonlyMap<string, readonly string[]> {
  const servers = new Map<string, string[]>()
  for (const { app, runnerId, live, workflows } of runners) {
    if (!live) continue
    for (const { name } of workflows) {
      const key = keyOf({ app, name })
      const known = servers.get(key)
      if (known) known.push(runnerId)
      else servers.set(key, [runnerId])
    }
  }
  return servers
}
