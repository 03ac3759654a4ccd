// Reads the settings of a runner from its environment variables and detects its runtime. Called by the handler, the
// registration, the client and `connect()`.

import { Buffer } from 'node:buffer'
import { type RUNNER_SETTINGS, SECRET_KEY_BYTES_MIN, unknownSetting } from '@perdure/protocol'
import { ConfigError } from '../wire/errors.ts'

/**
 * Returns an environment variable, trimmed; undefined when it is blank. A key may be in the file that the variable with `_FILE`
 * behind the name names. Works on every runtime.
 */
export function readEnvironment(name: (typeof RUNNER_SETTINGS)[number]): string | undefined {
  const value = globalThis.process?.env?.[name]?.trim()
  const file = name.includes('_KEY') ? globalThis.process?.env?.[`${name}_FILE`] : undefined
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

/**
 * Returns the signing keys: `given` (one key, an array, or a text separated by commas or spaces), else those of
 * `ENGINE_SIGNING_KEY`. Throws for a key that is too short to be safe.
 */
export function signingKeysOf(given: string | readonly string[] | undefined): string[] {
  const keys = parseKeys(given ?? readEnvironment('ENGINE_SIGNING_KEY'))
  const bytes = Math.min(...keys.map(key => Buffer.byteLength(key)))
  if (bytes >= SECRET_KEY_BYTES_MIN) return keys
  const problem = `has a key of ${bytes} bytes: ${SECRET_KEY_BYTES_MIN} or more are needed`
  if (given === undefined) throw new ConfigError(`ENGINE_SIGNING_KEY ${problem}`)
  throw new TypeError(`signingKey (ENGINE_SIGNING_KEY) ${problem}`)
}

function parseKeys(value: string | readonly string[] | undefined): string[] {
  const keys = typeof value === 'string' ? value.split(/[\s,]+/) : (value ?? [])
  return keys.filter(key => key !== '')
}

/** Returns whether the runner may be reached from other machines without a signing key. Throws a ConfigError. */
export function readAllowUnsigned(): boolean {
  const value = readEnvironment('ENGINE_ALLOW_UNSIGNED')
  if (value === undefined || value === '0' || value === 'false') return false
  if (value === '1' || value === 'true') return true
  throw new ConfigError(`ENGINE_ALLOW_UNSIGNED must be 1 or 0, not "${value}"`)
}

/** Throws a ConfigError for a variable that is no setting of a runner or of the engine, or whose value is unreadable. */
export function checkEnvironment(): void {
  const unknown = unknownSetting(environmentNames())
  if (unknown !== undefined) {
    throw new ConfigError(`${unknown.name} is not a setting of runners or of the engine${unknown.hint}`)
  }
  engineUrl(undefined)
  readAllowUnsigned()
  const signingKeys = readEnvironment('ENGINE_SIGNING_KEY')
  if (signingKeys !== undefined && parseKeys(signingKeys).length === 0) {
    throw new ConfigError('ENGINE_SIGNING_KEY contains no key')
  }
  signingKeysOf(undefined)
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

/** Variables that platforms set which stop a process between requests: Vercel, Lambda, Netlify, Cloud Run, Azure Functions. */
const SERVERLESS = ['VERCEL', 'AWS_LAMBDA_FUNCTION_NAME', 'NETLIFY', 'K_SERVICE', 'FUNCTIONS_WORKER_RUNTIME']

/** Whether the platform stops this process between requests, so that it sends no heartbeats then. */
export function sleepsBetweenRequests(): boolean {
  return SERVERLESS.some(name => globalThis.process?.env?.[name])
}
