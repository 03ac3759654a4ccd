// The settings of a client of PostgreSQL. They are set by a statement after the client has connected: a pooler refuses
// or drops settings that come with the start of a connection (docs/poolers.md). Called by client.

import { type ClientBase, escapeLiteral } from 'pg'
import { markSettled } from './pooler.ts'

export type ClientSettings = Readonly<Record<string, string>>

/** Settings that `pg` would send at the start of the connection if the address has a parameter with that name. */
const SENT_AT_START = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'] as const

/**
 * Splits an address into the address without its settings, and the settings, from `options` and the parameters of their names.
 */
export function settingsOfAddress(url: string): { bare: string; settings: ClientSettings } {
  const address = new URL(url)
  const settings: Record<string, string> = {}
  for (const name of SENT_AT_START) {
    const value = address.searchParams.get(name)
    if (value !== null) settings[name] = value
    address.searchParams.delete(name)
  }
  Object.assign(settings, settingsOfOptions(address.searchParams.get('options') ?? ''))
  address.searchParams.delete('options')
  return { bare: address.href, settings }
}

/** Reads options as PostgreSQL does: `-c name=value`, `-cname=value` and `--name=value`; a backslash escapes a space. */
function settingsOfOptions(options: string): ClientSettings {
  const words = options.match(/(?:\\.|[^\s\\])+/gs) ?? []
  const settings: Record<string, string> = {}
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string
    const text = word === '-c' ? words[++at] : /^(?:-c|--)(.+)$/s.exec(word)?.[1]
    const [, name, value] = /^([\w.-]+)=(.*)$/s.exec(text ?? '') ?? []
    if (name === undefined || value === undefined)
      throw new Error(`"${word}" in the options of the address is not a setting such as "-c search_path=name"`)
    settings[word.startsWith('--') ? name.replaceAll('-', '_') : name] = value.replaceAll(/\\(.)/gs, '$1')
  }
  return settings
}

/** Applies the settings to the client. Rejects if the server refuses one, or if the schema does not exist. */
export async function applySettings(client: ClientBase, settings: ClientSettings): Promise<void> {
  const calls = Object.entries(settings).map(
    ([name, value]) => `set_config(${escapeLiteral(name)}, ${escapeLiteral(value)}, false)`,
  )
  const text = `SELECT ${calls.join(', ')}; SELECT current_schema()`
  const answers = (await client.query({ text, rowMode: 'array' })) as unknown as { rows: (string | null)[][] }[]
  const { search_path: path } = settings
  if (path !== undefined && answers[1]?.rows[0]?.[0] === null)
    throw new Error(`there is no schema "${path}", which the address names: create it first (CREATE SCHEMA)`)
  markSettled(client, Object.keys(settings), answers[0]?.rows[0] ?? [])
}
