// Reads the address of the engine and the key from the environment, as runners do. Where there is no environment, as in
// browsers, both are absent. Called by client.ts.

/** An environment variable, trimmed; undefined when it is blank, or when there is no environment. */
export function readEnvironment(name: 'ENGINE_URL' | 'ENGINE_API_KEY' | 'ENGINE_API_KEY_FILE'): string | undefined {
  return globalThis.process?.env?.[name]?.trim() || undefined
}

/** The key: `ENGINE_API_KEY`, else the content of the file that `ENGINE_API_KEY_FILE` names. Throws when it cannot be read. */
export function readApiKey(): string | undefined {
  const file = readEnvironment('ENGINE_API_KEY_FILE')
  const key = readEnvironment('ENGINE_API_KEY')
  if (file === undefined) return key
  if (key !== undefined) throw new TypeError('ENGINE_API_KEY and ENGINE_API_KEY_FILE are both set: only one may be')
  const fs = globalThis.process?.getBuiltinModule?.('node:fs')
  if (!fs) throw new TypeError('ENGINE_API_KEY_FILE is set, but this runtime reads no files')
  const text = fs.readFileSync(file, 'utf8').trim()
  if (text === '') throw new TypeError(`ENGINE_API_KEY_FILE names an empty file: ${file}`)
  return text
}
