// `perdure engines`: the engines that use the store, and how much each has under way.

import type { Engine } from '@perdure/protocol'
import type { Command } from 'commander'
import { engineCommand, list } from '../command-line/session.ts'
import type { Column } from '../output/table.ts'
import { relative } from '../output/time.ts'

/** Adds `perdure engines` to the program. */
export function enginesCommand(program: Command): void {
  const command = program.command('engines').description('list the engines that use the store')
  engineCommand(command, ['perdure engines', 'perdure engines --json | jq .version'], async session =>
    list(session, await session.client.listEngines({}, session), COLUMNS),
  )
}

const COLUMNS: Column<Engine>[] = [
  { title: 'ENGINE', cell: engine => engine.id, whole: true },
  { title: 'VERSION', cell: engine => engine.version },
  { title: 'STATE', cell: ({ draining, self }) => (draining ? 'draining' : self ? 'answers' : 'works') },
  { title: 'HOST', cell: engine => engine.host },
  { title: 'PID', cell: engine => String(engine.pid), leave: 3 },
  { title: 'STARTED', cell: engine => relative(engine.startedAt), leave: 2 },
  { title: 'SEEN', cell: engine => relative(engine.seenAt), leave: 1 },
  { title: 'RUNS', cell: engine => share(engine, 'runs') },
  { title: 'DELIVERIES', cell: engine => share(engine, 'deliveries'), leave: 5 },
  { title: 'TIMERS', cell: engine => share(engine, 'timers'), leave: 6 },
  { title: 'LAG', cell: lagOf, leave: 4 },
]

function share({ lanes }: Engine, of: Engine['lanes'][number]['lane']): string | undefined {
  const found = lanes.find(({ lane }) => lane === of)
  return found && `${found.inFlight} of ${found.max}`
}

/** That of the latest lane. */
function lagOf({ lanes }: Engine): string | undefined {
  const known = lanes.flatMap(({ lagMs }) => (lagMs === undefined ? [] : [lagMs]))
  return known.length === 0 ? undefined : `${Math.max(...known)} ms`
}
