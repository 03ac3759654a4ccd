// What the commands for endpoints and receivers share: edits, and a secret that is shown once.

import { type Command, Option } from 'commander'
import { UsageError } from '../../flags.ts'
import type { Cell } from '../../output/table.ts'
import { type Session, show } from '../../session.ts'

/** What may be changed of both. `false` takes the value away: `--no-name`. */
export interface EditOptions {
  name?: string | false
  app?: string | false
  enable?: true
  disable?: true
  rotateSecret?: true
  revokeOldSecrets?: true
}

export const secretFlag = (what: string) =>
  new Option('--secret <secret>', `${what}: as it stands, @file, or - for standard input`)

export function addEditOptions(command: Command): Command {
  return command
    .addOption(new Option('--enable', 'switch it on').conflicts('disable'))
    .addOption(new Option('--disable', 'switch it off'))
    .option('--rotate-secret', 'make a new secret, shown this once; for 24 hours both hold')
    .option('--revoke-old-secrets', 'the secrets before the current one hold no more, from now on')
}

/** The fields of an edit that both have. */
export function editOf(options: EditOptions) {
  const { name, app, enable, disable, rotateSecret, revokeOldSecrets } = options
  return {
    name: orNull(name),
    app: orNull(app),
    enabled: enable ? true : disable ? false : undefined,
    rotateSecret,
    revokeOldSecrets,
  }
}

/** What is taken away is `null` in an edit. */
export const orNull = (value: string | false | undefined) => (value === false ? null : value)

/** Refuses an edit that says nothing. */
export function checkSaysSomething(edit: object): void {
  if (Object.values(edit).every(value => value === undefined)) throw new UsageError('say what to change')
}

/** Shows what was made or changed, the secret before all: it is in this answer and in no other. */
export async function showWithSecret(
  session: Session<unknown>,
  made: { secret?: string | undefined },
  lines: () => readonly string[],
): Promise<void> {
  const { secret } = made
  const note = 'The secret is shown this once: no other command, and no answer of the engine, has it.'
  await show(session, made, () => (secret === undefined ? lines() : [secret, '', ...lines(), note]))
}

export const onOff = ({ enabled }: { enabled: boolean }): Cell => ({
  text: enabled ? 'on' : 'off',
  colour: enabled ? 'green' : 'red',
})
