// Reads the addresses of the engine and the key from the environment. Without an environment, as in browsers, both are absent.
// Called by the client and by the SDK.

import { DEFAULT_ENGINE_URL, EngineList, type RUNNER_SETTINGS } from '@perdure/protocol/portable'
import { ConfigError } from '../errors/config-error.ts'

/**
 * Returns an environment variable, trimmed; undefined if it is blank. The variable with `_FILE` after the name may name a file
 * with a key. Works on every runtime.
 */
export function readEnvironment(name: (typeof RUNNER_SETTINGS)[number]): string | undefined {
  // Bundles for browsers leave out the rest.
  if (globalThis.process === undefined) return undefined
  const value = globalThis.process.env?.[name]?.trim()
  const file = name.includes('_KEY') ? globalThis.process.env?.[`${name}_FILE`] : undefined
  if (!file) return value === '' ? undefined : value
  if (value) throw new ConfigError(`${name} and ${name}_FILE are both set: only one of them may be`)
  return readKeyFile(`${name}_FILE`, file)
}

const KEY_FILE_CHARS_MAX = 64 * 1024

function readKeyFile(name: string, file: string): string {
  const fs = globalThis.process?.getBuiltinModule?.('node:fs')
  if (!fs) throw new ConfigError(`${name} is set, but this runtime reads no files`)
  let text: string
  try {
    text = fs.readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new ConfigError(`${name} names a file that cannot be read: ${file} (${(error as { code?: string }).code})`)
  }
  if (text === '') throw new ConfigError(`${name} names an empty file: ${file}`)
  if (text.length > KEY_FILE_CHARS_MAX) throw new ConfigError(`${name} names a file of more than 64 KiB: ${file}`)
  return text
}

/** Returns the engines of the cluster: `given`, else `ENGINE_URL`, else the default address. Throws if an item is not a URL. */
export function enginesOf(given: string | readonly string[] | undefined): EngineList {
  if (given !== undefined || globalThis.process === undefined) return EngineList.of(given ?? DEFAULT_ENGINE_URL)
  try {
    return EngineList.of(readEnvironment('ENGINE_URL') ?? DEFAULT_ENGINE_URL, { name: 'ENGINE_URL' })
  } catch (error) {
    throw new ConfigError((error as Error).message)
  }
}
