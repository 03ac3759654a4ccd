// Finds the workflows whose definitions differ between live runners of one app.

export interface Serving {
  app: string
  runnerId: string
  live: boolean
  workflows: readonly { name: string; definitionHash?: string }[]
}

export interface Disagreement {
  app: string
  workflow: string
  /** The runners that serve it. */
  runnerIds: string[]
}

export function disagreements(runners: readonly Serving[]): Disagreement[] {
  const found = new Map<string, Disagreement & { hashes: Set<string> }>()
  for (const { app, runnerId, live, workflows } of runners) {
    if (!live) continue
    for (const { name, definitionHash } of workflows) {
      if (definitionHash === undefined) continue
      const key = `${app}\n${name}`
      const known = found.get(key) ?? { app, workflow: name, runnerIds: [], hashes: new Set() }
      known.runnerIds.push(runnerId)
      known.hashes.add(definitionHash)
      found.set(key, known)
    }
  }
  return [...found.values()].flatMap(({ hashes, ...one }) => (hashes.size > 1 ? [one] : []))
}
