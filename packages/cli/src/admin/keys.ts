// `perdure keys`: creates, lists and revokes the API keys of a store.

import { KEY_KINDS, type KeyKind, type StoredKey } from '@perdure/engine'
import { parseDurationMs } from '@perdure/protocol'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { group, list, show } from '../command-line/commands.ts'
import { onlyId } from '../command-line/ids.ts'
import type { Column } from '../output/table.ts'
import { plain } from '../output/text.ts'
import { adminCommand, timestamp } from './commands.ts'

/** Adds `perdure keys` to the program. */
export function keyCommands(program: Command): void {
  const keys = group(program, 'keys', {
    description: 'create, list and revoke API keys',
    examples: ['perdure keys create --kind secret --label ops', 'perdure keys list'],
  })

  const creating = keys
    .command('create')
    .description('create an API key; no later command shows it again')
    .addOption(new Option('--kind <kind>', 'kind of the key').choices(KEY_KINDS).makeOptionMandatory())
    .option('--label <label>', 'name of the key in the audit log (default: its id)')
    .option('--namespace <name>', 'namespace that the key gives access to (default: default)')
    .addOption(
      new Option(
        '--expires <when>',
        'refuse it after this time: 7d, 30d, or 2026-12-31T00:00:00Z (default: never)',
      ).argParser(endOf),
    )
  adminCommand<{ kind: KeyKind; label?: string; namespace?: string; expires?: number }>(
    creating,
    [
      'perdure keys create --kind secret --label ops',
      'perdure keys create --kind event --namespace shop --store sqlite:./data/engine.db',
      'perdure keys create --kind runner --label ci --expires 90d',
      'perdure keys create --kind read --json | jq -r .key',
    ],
    async (context, administration) => {
      const { kind, label, namespace, expires: expiresAt } = context.options
      const { stored, key } = await administration.createKey({ kind, label, namespace, expiresAt })
      return show(context, { ...shown(stored), key }, () => created(stored, key))
    },
    { create: true },
  )

  adminCommand(
    keys.command('list').description('list the API keys of the store, without the keys themselves'),
    ['perdure keys list', 'perdure keys list --json | jq -r "select(.revokedAt == null) | .id"'],
    async (context, administration) =>
      list(context, (await administration.keys()).map(shown), COLUMNS, {
        none: 'no API keys in this store; perdure keys create makes one',
      }),
  )

  adminCommand(
    keys.command('revoke <id>').description('revoke an API key; a running engine refuses it within 2 s'),
    ['perdure keys revoke key_01K...'],
    async (context, administration, given = '') => {
      const begun = (await administration.keys())
        .map(({ id }) => id)
        .filter(id => /^key_./.test(given) && id.startsWith(given))
      const id = await onlyId(given, begun)
      const revoked = await administration.revokeKey(id)
      return show(context, shown(revoked), () => [plain(`revoked ${revoked.id} (${revoked.label})`)])
    },
  )
}

/** The public fields of a key: all except its hash. */
function shown({ id, kind, namespace, label, createdAt, revokedAt, expiresAt }: StoredKey) {
  return {
    id,
    kind,
    namespace,
    label,
    createdAt: timestamp(createdAt),
    ...(revokedAt === undefined ? {} : { revokedAt: timestamp(revokedAt) }),
    ...(expiresAt === undefined ? {} : { expiresAt: timestamp(expiresAt) }),
  }
}

/** The time that `--expires` means: a time, or a duration from now. */
function endOf(text: string): number {
  const ms = parseDurationMs(text)
  const end = ms === undefined || /^\d+$/.test(text) ? Date.parse(text) : Date.now() + ms
  if (Number.isNaN(end) || !/^\d+\D/.test(text))
    throw new InvalidArgumentError('It must be like 12h, 30d or 2026-12-31T00:00:00Z.')
  return end
}

function created({ id, kind, namespace, label, expiresAt }: StoredKey, key: string): string[] {
  return [
    key,
    '',
    `A ${kind} key of namespace ${namespace}, label ${label}, id ${id}.`,
    ...(expiresAt === undefined ? [] : [`It expires at ${timestamp(expiresAt)}.`]),
    'It is shown only once: the store keeps only its hash.',
  ]
}

const COLUMNS: readonly Column<ReturnType<typeof shown>>[] = [
  { title: 'ID', cell: key => key.id, whole: true },
  { title: 'KIND', cell: key => key.kind },
  { title: 'NAMESPACE', cell: key => key.namespace },
  { title: 'LABEL', cell: key => key.label },
  { title: 'CREATED', cell: key => key.createdAt },
  { title: 'REVOKED', cell: key => key.revokedAt },
  { title: 'EXPIRES', cell: key => key.expiresAt },
]
