// `perdure keys`: creates, lists and revokes the API keys of a store.

import { KEY_KINDS, type KeyKind, type StoredKey } from '@perdure/engine'
import { type Command, Option } from 'commander'
import type { Column } from '../output/table.ts'
import { administer, group, type SharedOptions, subcommand, timestamp } from './session.ts'

interface CreateOptions extends SharedOptions {
  kind: KeyKind
  label?: string
  namespace?: string
}

/** Adds `perdure keys` to the program. */
export function keyCommands(program: Command): void {
  const keys = group(program, 'keys', {
    description: 'create, list and revoke API keys',
    examples: ['perdure keys create --kind secret --label ops', 'perdure keys list'],
  })

  subcommand(keys, 'create', {
    description: 'create an API key; no later command shows it again',
    examples: [
      'perdure keys create --kind secret --label ops',
      'perdure keys create --kind event --namespace shop --store sqlite:./data/engine.db',
      'perdure keys create --kind read --json | jq -r .key',
    ],
  })
    .addOption(new Option('--kind <kind>', 'kind of the key').choices(KEY_KINDS).makeOptionMandatory())
    .option('--label <label>', 'name of the key in the audit log (default: its id)')
    .option('--namespace <name>', 'namespace that the key gives access to (default: default)')
    .action((options: CreateOptions, command: Command) =>
      administer(
        command,
        options,
        async (administration, output) => {
          const { stored, key } = await administration.createKey(options)
          output.show({ ...shown(stored), key }, created(stored, key))
        },
        { create: true },
      ),
    )

  subcommand(keys, 'list', {
    description: 'list the API keys of the store, without the keys themselves',
    examples: ['perdure keys list', 'perdure keys list --json | jq -r "select(.revokedAt == null) | .id"'],
  }).action((options: SharedOptions, command: Command) =>
    administer(command, options, async (administration, output) =>
      output.list((await administration.keys()).map(shown), COLUMNS, NONE),
    ),
  )

  subcommand(keys, 'revoke <id>', {
    description: 'revoke an API key; a running engine refuses it within 2 s',
    examples: ['perdure keys revoke key_01K...'],
  }).action((id: string, options: SharedOptions, command: Command) =>
    administer(command, options, async (administration, output) => {
      const revoked = await administration.revokeKey(id)
      output.show(shown(revoked), [`revoked ${revoked.id} (${revoked.label})`])
    }),
  )
}

type ShownKey = ReturnType<typeof shown>

/** The public fields of a key: all except its hash. */
function shown({ id, kind, namespace, label, createdAt, revokedAt }: StoredKey) {
  return {
    id,
    kind,
    namespace,
    label,
    createdAt: timestamp(createdAt),
    ...(revokedAt === undefined ? {} : { revokedAt: timestamp(revokedAt) }),
  }
}

function created({ id, kind, namespace, label }: StoredKey, key: string): string[] {
  return [
    key,
    '',
    `A ${kind} key of namespace ${namespace}, label ${label}, id ${id}.`,
    'It is shown this once: the store keeps only its hash.',
  ]
}

const NONE = 'no API keys in this store; perdure keys create makes one'
const COLUMNS: readonly Column<ShownKey>[] = [
  { title: 'ID', cell: key => key.id, whole: true },
  { title: 'KIND', cell: key => key.kind },
  { title: 'NAMESPACE', cell: key => key.namespace },
  { title: 'LABEL', cell: key => key.label },
  { title: 'CREATED', cell: key => key.createdAt },
  { title: 'REVOKED', cell: key => key.revokedAt },
]
