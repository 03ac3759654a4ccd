// Reads the settings of a runner from its environment variables and detects its runtime. Called by the handler, the
// registration, the client and `connect()`.

import { type RUNNER_SETTINGS, unknownSetting } from '@perdure/protocol'
import { ConfigError } from '../wire/errors.ts'

/** Returns an environment variable, trimmed; undefined when it is blank. Works on every runtime. */
export function readEnvironment(name: (typeof RUNNER_SETTINGS)[number]): string | undefined {
  const value = globalThis.process?.env?.[name]?.trim()
  return value === '' ? undefined : value
}

/** Returns the signing keys of a setting: one key, an array, or a text separated by commas or spaces. */
export function parseKeys(value: string | readonly string[] | undefined): string[] {
  const keys = typeof value === 'string' ? value.split(/[\s,]+/) : (value ?? [])
  return keys.filter(key => key !== '')
}

/** Throws a ConfigError for a variable that is no setting of a runner or of the engine, or whose value is unreadable. */
export function checkEnvironment(): void {
  const unknown = unknownSetting(environmentNames())
  if (unknown !== undefined) throw new ConfigError(`${unknown} is not a setting of runners or of the engine`)
  engineUrl(undefined)
  const signingKeys = readEnvironment('ENGINE_SIGNING_KEY')
  if (signingKeys !== undefined && parseKeys(signingKeys).length === 0) {
    throw new ConfigError('ENGINE_SIGNING_KEY contains no key')
  }
  const apiKey = readEnvironment('ENGINE_API_KEY')
  if (apiKey !== undefined && !/^[ -~]+$/.test(apiKey)) {
    throw new ConfigError('ENGINE_API_KEY is not an API key: it contains characters that no key contains')
  }
}

/** Returns the engine's URL: `given`, else `ENGINE_URL`, else the default address. Throws when it is not a URL. */
export function engineUrl(given: string | undefined): string {
  const url = given ?? readEnvironment('ENGINE_URL') ?? 'http://127.0.0.1:4777'
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    if (given === undefined) throw new ConfigError(`ENGINE_URL is not an http or https URL: ${url}`)
    throw new TypeError(`The engine's URL (ENGINE_URL) is not an http or https URL: ${url}`)
  }
  return url.replace(/\/+$/, '')
}

/** Returns no names where they cannot be listed: Deno requires a permission for each variable. */
function environmentNames(): string[] {
  try {
    return Object.keys(globalThis.process?.env ?? {})
  } catch {
    return []
  }
}

/** The `runtime` field of a registration. */
export function detectRuntime(): 'node' | 'bun' | 'deno' {
  if ('Bun' in globalThis) return 'bun'
  if ('Deno' in globalThis) return 'deno'
  return 'node'
}
