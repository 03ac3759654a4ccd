// Checks the settings of a runner in its environment variables and detects its runtime. Called by the handler, the
// registration and `connect()`.

import { Buffer } from 'node:buffer'
import { ConfigError } from '@perdure/client'
import { enginesOf, readEnvironment } from '@perdure/client/internal'
import { oldNodeProblem, SECRET_KEY_BYTES_MIN, unknownSetting } from '@perdure/protocol'

/**
 * Returns the signing keys: `given` (one key, an array, or a text separated by commas or spaces), otherwise those in
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

/**
 * Throws a ConfigError for a variable that neither a runner nor the engine has, for a value that is unreadable, and for a Node
 * version that is too old.
 */
export function checkEnvironment(): void {
  const problem = oldNodeProblem()
  if (problem !== undefined) throw new ConfigError(problem)
  const unknown = unknownSetting(environmentNames())
  if (unknown !== undefined) {
    throw new ConfigError(`${unknown.name} is not a setting of runners or of the engine${unknown.hint}`)
  }
  enginesOf(undefined)
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

/** Variables set by platforms that stop a process between requests: Vercel, Lambda, Netlify, Cloud Run, Azure Functions. */
const SERVERLESS = ['VERCEL', 'AWS_LAMBDA_FUNCTION_NAME', 'NETLIFY', 'K_SERVICE', 'FUNCTIONS_WORKER_RUNTIME']

/** Whether the platform stops this process between requests, so that it sends no heartbeats then. */
export function sleepsBetweenRequests(): boolean {
  return SERVERLESS.some(name => globalThis.process?.env?.[name])
}
