// Waits for the end of a load before its verdict.

import type { LoadClient } from '../../test/faults/kill/client.ts'
import { hasOpenDeliveries } from '../../test/faults/kill/workload.ts'
import { type Api, type Destination, until } from '../../test/kit/index.ts'

interface Load {
  api: Api
  app: string
  client: LoadClient
  destination: Destination
}

/** Waits for everything in flight, up to a deadline. The verdict then reports anything missing. */
export async function settled({ api, app, client, destination }: Load, deadlineMs: number): Promise<void> {
  const acknowledged = client.acknowledged.entries()
  const quiet = async () => {
    for (const status of ['queued', 'running']) {
      if ((await api.runs(`?app=${app}&status=${status}&limit=1`)).length > 0) return false
    }
    if (await hasOpenDeliveries(api, app)) return false
    const delivered = new Set(destination.requests.map(({ body }) => (JSON.parse(body) as { token: string }).token))
    return acknowledged.every(({ token }) => delivered.has(token))
  }
  await until(quiet, { deadlineMs }).catch(() => {})
}
