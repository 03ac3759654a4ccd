// `perdure doctor`: examines everything that an engine with these settings would depend on, and reports what is right and what is
// wrong. It changes nothing, and its findings contain no secret.

import { type Config, type ConfigError, readConfig } from '../config/config.ts'
import { error, type Finding, type Findings, ok, warning } from './finding.ts'
import { examineEngine, examinePort, examineRedis } from './services.ts'
import { examineDoor, examineHeap, examineNode, examineSecrets, examineTracing } from './settings.ts'
import { examineDisk, examineFile, type StoredKeys } from './sqlite.ts'

export type { Finding, Verdict } from './finding.ts'

export interface DoctorOptions {
  env: NodeJS.ProcessEnv
  /** The flags of `perdure serve`. */
  flags: Record<string, string>
}

/** Yields the findings one by one. The engine is healthy if none has the verdict `error`. */
export async function* examine({ env, flags }: DoctorOptions): Findings {
  yield* examineNode()
  yield* examineHeap()
  yield* examineTracing()
  let config: Config
  try {
    config = readConfig(env, flags)
  } catch (cause) {
    yield error('configuration', (cause as ConfigError).message)
    return
  }
  for await (const finding of examineAll(config, env)) {
    yield { ...finding, message: redacted(finding.message, config, env) }
  }
}

async function* examineAll(config: Config, env: NodeJS.ProcessEnv): Findings {
  yield ok('configuration', 'all settings are valid')
  yield* examineSecrets(config)
  if (!config.retention) yield warning('retention', 'ENGINE_RETENTION is not set: ended runs are kept forever')
  const { findings, keys } = await examineStore(config)
  yield* findings
  yield* examineDoor(config, keys)
  for (const [check, address] of [
    ['queue', config.queue],
    ['limiter', config.limiter],
  ] as const) {
    if (address?.kind === 'redis') yield* examineRedis(check, address.url)
  }
  yield await examinePort(config.host, config.port)
  for (const url of engineUrls(env)) yield* examineEngine(url, env.ENGINE_API_KEY || undefined)
}

async function examineStore({ store }: Config): Promise<{ findings: Finding[]; keys?: StoredKeys | undefined }> {
  if (store.kind === 'postgres') {
    const { examinePostgres } = await import('./postgres.ts')
    return examinePostgres(store.url)
  }
  if (store.file === ':memory:')
    return { findings: [warning('store', 'the store is in memory: nothing outlives the engine')] }
  const findings: Finding[] = []
  for await (const finding of examineDisk(store.file)) findings.push(finding)
  const { finding, keys } = await examineFile(store.file)
  return { findings: [...findings, finding], keys }
}

/** The engines that runners and clients reach through the environment's addresses. */
function engineUrls({ ENGINE_URL: text = '' }: NodeJS.ProcessEnv): string[] {
  return text.split(/[\s,]+/).filter(url => url !== '')
}

/** Removes secrets: messages of other programs may repeat the values of settings. */
function redacted(message: string, config: Config, env: NodeJS.ProcessEnv): string {
  const engines = engineUrls(env).map(url => ({ kind: 'url', url }))
  const passwords = [config.store, config.queue, config.limiter, ...engines].flatMap(address =>
    passwordsOf(address && 'url' in address ? address.url : undefined),
  )
  const secrets = [
    ...config.signingKeys,
    ...config.encryptionKeys,
    ...config.apiKeys.map(({ key }) => key),
    ...(env.ENGINE_API_KEY ? [env.ENGINE_API_KEY] : []),
    ...passwords,
  ]
  let text = message
  for (const secret of secrets) text = text.replaceAll(secret, '[REDACTED]')
  return text
}

function passwordsOf(url: string | undefined): string[] {
  if (url === undefined || !URL.canParse(url)) return []
  const { password } = new URL(url)
  return password === '' ? [] : [password, decodeURIComponent(password)]
}
