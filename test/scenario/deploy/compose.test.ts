// compose.yaml compared with the code and the Dockerfile: its settings exist and are valid, each service is bounded and has time
// to stop, and related values are equal.

import { readConfig } from '@perdure/engine'
import { describe, expect, test } from 'vitest'
import { HTTP_LIMITS } from '../../../packages/engine/src/http/request/limits.ts'
import { readCompose, type Service } from '../../kit/deploy/compose-file.ts'
import { imageStages, projectFile as read } from '../../kit/deploy/deploy-files.ts'
import { environmentOf, listOf, type Stage } from '../../kit/deploy/dockerfile.ts'

const { stages, image } = imageStages()

describe('compose.yaml', () => {
  const { services, volumes, text, replaced, given } = readCompose()
  const engine = services.engine as Service

  test('requires every secret, and contains none', () => {
    expect(replaced.replaceAll('$$', '')).not.toMatch(/\$\{/)
    const [line] = text.match(/for name in ([\s\S]*?);/) ?? []
    expect(line?.match(/[A-Z_]{4,}/g)?.sort()).toEqual(Object.keys(given).sort())
  })

  test('gives the engine valid settings, with two services and two kinds of keys', () => {
    const config = readConfig({ ...environmentOf(image), ...engine.environment })
    expect(config).toMatchObject({
      store: { kind: 'postgres' },
      queue: { kind: 'redis' },
      limiter: { kind: 'redis' },
    })
    expect(config.apiKeys.map(({ kind }) => kind)).toEqual(['secret', 'runner'])
    expect(engine.ports).toEqual([`127.0.0.1:${config.port}:${config.port}`])
    expect(Number.parseInt(engine.stop_grace_period as string, 10) * 1000).toBeGreaterThanOrEqual(
      config.drainTimeoutMs + HTTP_LIMITS.drainMs,
    )
    for (const key of ['store', 'queue', 'limiter'] as const) {
      const { hostname, username, pathname } = new URL((config[key] as { url: string }).url)
      expect(Object.keys(services)).toContain(hostname)
      if (key === 'store')
        expect([username, pathname.slice(1)]).toEqual([
          services.postgres?.environment.POSTGRES_USER,
          services.postgres?.environment.POSTGRES_DB,
        ])
    }
  })

  test('gives the runner a key of the engine, and where it is', () => {
    const { environment } = services.runner as Service
    const keys = JSON.parse(engine.environment.ENGINE_API_KEYS as string) as { kind: string; key: string }[]
    expect(keys.find(({ kind }) => kind === 'runner')?.key).toBe(environment.ENGINE_API_KEY)
    expect(environment.ENGINE_SIGNING_KEY).toBe(engine.environment.ENGINE_SIGNING_KEY)
    expect(environment.ENGINE_URL).toBe('http://engine:4777')
    const [script] = listOf(stages.find(({ name }) => name === 'example-runner') as Stage, 'CMD').slice(-1)
    expect(read(script as string)).toContain('connect({')
  })

  test('runs nothing as root', () => {
    for (const [name, { build, user, command }] of Object.entries(services)) {
      const stage = build && stages.find(one => one.name === build.target)
      const inImage = stage?.instructions.find(({ word }) => word === 'USER')?.rest
      // The entrypoint of an official image drops root rights, unless something replaces it.
      expect(user ?? inImage ?? (command === undefined ? 'of the entrypoint' : 'root'), name).not.toMatch(/^(root|0)\b/)
    }
    expect(services.redis).toMatchObject({ user: 'redis', command: expect.arrayContaining(['redis-server']) })
  })

  test('builds stages that exist, bounds every service, and waits for nothing that has no health check', () => {
    for (const [name, service] of Object.entries(services)) {
      const { limits } = service.deploy.resources
      expect(limits.cpus && limits.memory, name).toBeTruthy()
      if (service.build) {
        expect(stages.map(stage => stage.name)).toContain(service.build.target)
        expect(service.read_only, name).toBe(true)
      }
      for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
        expect(condition).toBe('service_healthy')
        expect(other === 'engine' || services[other]?.healthcheck?.test, other).toBeTruthy()
      }
      for (const volume of service.volumes ?? []) expect(volumes).toHaveProperty(volume.split(':')[0] as string)
    }
  })
})
