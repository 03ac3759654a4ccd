// Examines what can be checked within the process: Node, the tracing SDK, the keys that sign and encrypt, who has access.

import { openTelemetry, unreachableSdk } from '../adapters/tracing/opentelemetry.ts'
import { heapLimit, heapProblem, heapShares } from '../base/heap.ts'
import { type Config, isLoopback } from '../config/config.ts'
import { error, type Finding, type Findings, ok, warning } from './finding.ts'

const NODE_MIN = [20, 19] as const

export function* examineNode(version = process.versions.node): Generator<Finding> {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [majorMin, minorMin] = NODE_MIN
  const isOld = major < majorMin || (major === majorMin && minor < minorMin)
  if (isOld) yield error('node', `Node ${version}: ${NODE_MIN.join('.')} or newer is needed`)
  else if (major % 2 === 1) yield warning('node', `Node ${version} has no long-term support`)
  else yield ok('node', `Node ${version}`)
}

/** Examines the heap of an engine started like this process, and the part of it for work under way. */
export function* examineHeap(limit = heapLimit()): Generator<Finding> {
  const problem = heapProblem(limit)
  if (problem !== undefined) {
    yield error('memory', problem)
    return
  }
  const { stateBytesMax, messageBytesMax } = heapShares(limit)
  const mb = (bytes: number) => `${Math.floor(bytes / 1024 / 1024)} MB`
  yield ok(
    'memory',
    `a heap of ${mb(limit)}: ${mb(stateBytesMax)} for the states of runs in progress, ${mb(messageBytesMax)} for messages of runners`,
  )
}

/**
 * Examines the tracing SDK that NODE_OPTIONS loads into this process as into the engine's. Without an SDK there is nothing to
 * report.
 */
export async function* examineTracing(): Findings {
  const older = await unreachableSdk()
  if (older !== undefined)
    yield warning(
      'tracing',
      `an OpenTelemetry SDK is registered that the engine cannot see: it uses version ${older} of @opentelemetry/api, the ` +
        "engine a newer one. Install one version of @opentelemetry/api for both, or an SDK that is as new as the engine's",
    )
  else if (await openTelemetry()) yield ok('tracing', 'an OpenTelemetry SDK is registered: the engine makes spans')
}

export function* examineSecrets({ signingKeys, encryptionKeys }: Config): Generator<Finding> {
  if (signingKeys.length === 0)
    yield warning(
      'signing',
      'ENGINE_SIGNING_KEY is not set: runners cannot verify that an invoke comes from this engine',
    )
  else yield* keyLength('signing', 'ENGINE_SIGNING_KEY', signingKeys)
  if (encryptionKeys.length === 0)
    yield warning('encryption', 'ENGINE_ENCRYPTION_KEY is not set: the store keeps webhook secrets in the clear')
  else if (encryptionKeys.some(key => signingKeys.includes(key)))
    yield error(
      'encryption',
      'ENGINE_ENCRYPTION_KEY contains a key of ENGINE_SIGNING_KEY, which every runner has: use a different key',
    )
  else yield* keyLength('encryption', 'ENGINE_ENCRYPTION_KEY', encryptionKeys)
}

function* keyLength(check: string, setting: string, keys: readonly string[]): Generator<Finding> {
  const shortest = Math.min(...keys.map(key => Buffer.byteLength(key)))
  yield ok(check, `${setting} has ${keys.length === 1 ? 'a key' : `${keys.length} keys`} of ${shortest} bytes or more`)
}

/** `stored`: API keys of the store that are not revoked, and how many were ever made; undefined if that is unknown. */
export function* examineDoor(
  { host, apiKeys, corsOrigins }: Config,
  stored: { live: number; made: number } | undefined,
): Generator<Finding> {
  const live = apiKeys.length + (stored?.live ?? 0)
  if (live > 0) yield ok('keys', live === 1 ? '1 API key' : `${live} API keys`)
  else if (!isLoopback(host) && (stored?.made ?? 0) === 0)
    yield error(
      'keys',
      `ENGINE_HOST ${host} is not a loopback address and there is no API key: the engine will not start`,
    )
  else if ((stored?.made ?? 0) > 0) yield warning('keys', 'all API keys were revoked: nobody can sign in')
  else yield warning('keys', 'no API key: anyone on this machine has full access')
  if (corsOrigins.includes('*')) yield warning('cors', 'ENGINE_CORS_ORIGINS lets pages of every origin call the engine')
}
