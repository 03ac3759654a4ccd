// The shared parts of the commands for endpoints and receivers: edit options, and the output of a new secret.

import { Option } from 'commander'
import { type EngineContext, show } from '../../command-line/commands.ts'
import { UsageError } from '../../command-line/flags.ts'
import type { Cell } from '../../output/table.ts'

/** Options of both update commands. `false` removes the value, as `--no-name` does. */
export interface EditOptions {
  name?: string | false
  app?: string | false
  enable?: true
  disable?: true
  rotateSecret?: true
  revokeOldSecrets?: true
}

export const secretFlag = (what: string) =>
  new Option('--secret <secret>', `${what}: the secret itself, @file, or - for standard input`)

/** The options of an edit that both update commands have. */
export const editOptions = () => [
  new Option('--enable', 'enable it').conflicts('disable'),
  new Option('--disable', 'disable it'),
  new Option('--rotate-secret', 'create and show a new secret; the old one stays valid for 24 hours'),
  new Option('--revoke-old-secrets', 'revoke all secrets except the current one, at once'),
]

/** The edit: the fields that both commands have, and the `own` fields of one. Throws if it changes nothing. */
export function editOf<Own extends object>(options: EditOptions, own: Own) {
  const { name, app, enable, disable, rotateSecret, revokeOldSecrets } = options
  const edit = {
    name: orNull(name),
    app: orNull(app),
    enabled: enable ? true : disable ? false : undefined,
    rotateSecret,
    revokeOldSecrets,
    ...own,
  }
  if (Object.values(edit).every(value => value === undefined))
    throw new UsageError('nothing to change: give at least one option (--help lists them)')
  return edit
}

/** The value of an edit: `null` removes the value. */
export const orNull = <T>(value: T | false | undefined): T | null | undefined => (value === false ? null : value)

/** Shows a created or changed record, with a new secret first: no other reply contains the secret. */
export async function showWithSecret(
  context: EngineContext<unknown>,
  made: { secret?: string | undefined; oldSecretsUntil?: string | undefined },
  line: string,
): Promise<undefined> {
  const { secret, oldSecretsUntil } = made
  const note = 'The secret is shown only once: no other command or response of the engine contains it.'
  const overlap = oldSecretsUntil === undefined ? [] : [`The replaced secret stays valid until ${oldSecretsUntil}.`]
  return show(context, made, () => (secret === undefined ? [line] : [secret, '', line, note, ...overlap]))
}

export const onOff = ({ enabled }: { enabled: boolean }): Cell => ({
  text: enabled ? 'on' : 'off',
  colour: enabled ? 'green' : 'red',
})
