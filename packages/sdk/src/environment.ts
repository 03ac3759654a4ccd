// Settings of the runner's environment (decisions, "Configuration") and what it runs on.

import { type RUNNER_SETTINGS, unknownSetting } from '@perdure/protocol'
import { ConfigError } from './errors.ts'

/** A non-blank environment variable, on any runtime. */
export function readEnvironment(name: (typeof RUNNER_SETTINGS)[number]): string | undefined {
  const value = globalThis.process?.env?.[name]?.trim()
  return value === '' ? undefined : value
}

/** Signing keys: one, several, or a list separated by commas or spaces. */
export function parseKeys(value: string | readonly string[] | undefined): string[] {
  const keys = typeof value === 'string' ? value.split(/[\s,]+/) : (value ?? [])
  return keys.filter(key => key !== '')
}

/** Refuses names that are settings of neither side, and values that cannot be read. Throws ConfigError. */
export function checkEnvironment(): void {
  const unknown = unknownSetting(environmentNames())
  if (unknown !== undefined) throw new ConfigError(`${unknown} is not a setting of runners or of the engine`)
  engineUrl(undefined)
  const signingKeys = readEnvironment('ENGINE_SIGNING_KEY')
  if (signingKeys !== undefined && parseKeys(signingKeys).length === 0) {
    throw new ConfigError('ENGINE_SIGNING_KEY has no key in it')
  }
  const apiKey = readEnvironment('ENGINE_API_KEY')
  if (apiKey !== undefined && !/^[ -~]+$/.test(apiKey)) {
    throw new ConfigError('ENGINE_API_KEY is no API key: it has characters that no key has')
  }
}

/** Where the engine is: given, or `ENGINE_URL`, or its default address. Throws when that is no URL. */
export function engineUrl(given: string | undefined): string {
  const url = given ?? readEnvironment('ENGINE_URL') ?? 'http://127.0.0.1:4777'
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    if (given === undefined) throw new ConfigError(`ENGINE_URL is no http or https URL: ${url}`)
    throw new TypeError(`The engine's URL (ENGINE_URL) is no http or https URL: ${url}`)
  }
  return url.replace(/\/+$/, '')
}

/** None where they may not be listed: Deno shows each variable by a permission of its own. */
function environmentNames(): string[] {
  try {
    return Object.keys(globalThis.process?.env ?? {})
  } catch {
    return []
  }
}

/** `runtime` of a registration. */
export function detectRuntime(): 'node' | 'bun' | 'deno' {
  if ('Bun' in globalThis) return 'bun'
  if ('Deno' in globalThis) return 'deno'
  return 'node'
}
