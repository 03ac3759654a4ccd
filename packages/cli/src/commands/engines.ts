// `perdure engines`: the engines that use the store, and how much each has under way. `perdure engine release`.

import type { Engine } from '@perdure/protocol'
import type { Command } from 'commander'
import { group } from '../command-line/commands.ts'
import { listCommand, showCommand } from '../command-line/operation.ts'

/** Adds `perdure engines` and `perdure engine` to the program. */
export function enginesCommand(program: Command): void {
  listCommand(program, 'engines', {
    operation: 'listEngines',
    description: 'list the engines that use the store',
    examples: ['perdure engines', 'perdure engines --json | jq .version'],
    columns: [
      { field: 'id', title: 'ENGINE' },
      'version',
      {
        title: 'STATE',
        cell: ({ draining, held, self }) => (draining ? 'draining' : held ? 'held' : self ? 'answers' : 'works'),
      },
      'host',
      { field: 'pid', leave: 3 },
      { field: 'startedAt', leave: 2 },
      { field: 'seenAt', leave: 1 },
      { title: 'RUNS', cell: engine => share(engine, 'runs') },
      { title: 'DELIVERIES', cell: engine => share(engine, 'deliveries'), leave: 5 },
      { title: 'TIMERS', cell: engine => share(engine, 'timers'), leave: 6 },
      { title: 'LAG', cell: lagOf, leave: 4 },
    ],
  })
  const engine = group(program, 'engine', {
    description: 'act on the engine that answers',
    examples: ['perdure engine release'],
  })
  showCommand(engine, 'release', {
    operation: 'releaseEngine',
    description: 'release an engine that was started with --hold',
    examples: ['perdure engine release', 'perdure engine release --url http://127.0.0.1:4778'],
    lines: () => ['the engine is released: it now claims, fires and delivers'],
  })
}

function share({ lanes }: Engine, of: Engine['lanes'][number]['lane']): string | undefined {
  const found = lanes.find(({ lane }) => lane === of)
  return found && `${found.inFlight} of ${found.max}`
}

/** The lag of the latest lane. */
function lagOf({ lanes }: Engine): string | undefined {
  const known = lanes.flatMap(({ lagMs }) => (lagMs === undefined ? [] : [lagMs]))
  return known.length === 0 ? undefined : `${Math.max(...known)} ms`
}
