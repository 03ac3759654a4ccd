// deploy/kubernetes compared with the code and the Dockerfile: its settings exist and are valid, probes call operations, related
// names are equal, and pods have enough time for a shutdown.

import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ConfigError, readConfig } from '@perdure/engine'
import { ENGINE_SETTINGS } from '@perdure/protocol'
import { operationList } from '@perdure/protocol/operations'
import { describe, expect, test } from 'vitest'
import { HTTP_LIMITS } from '../../../packages/engine/src/http/request/limits.ts'
import { yamlDocuments as documents, imageStages, projectFile as read } from '../../kit/deploy/deploy-files.ts'
import { environmentOf, listOf } from '../../kit/deploy/dockerfile.ts'

const { image } = imageStages()
const SECRETS = {
  ENGINE_API_KEYS: JSON.stringify([{ label: 'ops', kind: 'secret', key: 'k'.repeat(64) }]),
  ENGINE_SIGNING_KEY: 's'.repeat(64),
  ENGINE_ENCRYPTION_KEY: 'e'.repeat(64),
}

interface Probe {
  httpGet: { path: string; port: string }
}
interface Container {
  name: string
  image: string
  envFrom: ({ configMapRef: { name: string } } | { secretRef: { name: string } })[]
  env?: { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } }[]
  ports: { name: string; containerPort: number }[]
  startupProbe: Probe
  livenessProbe: Probe
  readinessProbe: Probe
  lifecycle: { preStop: { sleep: { seconds: number } } }
  resources: Record<'requests' | 'limits', Record<string, string>>
  securityContext: Record<string, unknown>
  volumeMounts: { name: string; mountPath: string }[]
}
interface PodSpec {
  enableServiceLinks: boolean
  terminationGracePeriodSeconds: number
  securityContext: Record<string, unknown>
  containers: [Container]
  volumes: { name: string }[]
}
interface Resource {
  file: string
  kind: string
  metadata: { name: string; labels: Record<string, string> }
  /** Only of a Kustomization. */
  resources: string[]
  data: Record<string, string>
  stringData: Record<string, string>
  spec: {
    replicas: number
    serviceName: string
    selector: { matchLabels: Record<string, string> } & Record<string, string>
    template: { metadata: { labels: Record<string, string> }; spec: PodSpec }
    volumeClaimTemplates?: { metadata: { name: string } }[]
    ports: { name: string; port: number; targetPort: string }[]
  }
}

interface NetworkPolicy {
  podSelector: { matchLabels: Record<string, string> }
  policyTypes: string[]
  ingress: { ports: { port: string | number }[] }[]
  egress: { ports?: { port: number }[] }[]
}
interface ServiceMonitor {
  selector: { matchLabels: Record<string, string> }
  endpoints: [{ port: string; path: string; authorization: { credentials: { name: string } } }]
}

describe('deploy/kubernetes', () => {
  const files = readdirSync(new URL('../../../deploy/kubernetes', import.meta.url), { recursive: true }) as string[]
  const all = files
    .filter(file => file.endsWith('.yaml'))
    .flatMap(file => documents<Resource>(read(`deploy/kubernetes/${file}`)).map(resource => ({ ...resource, file })))
  const byKind = (kind: string) => all.filter(resource => resource.kind === kind)
  const [{ data }] = byKind('ConfigMap') as [Resource]
  const [{ stringData }] = byKind('Secret') as [Resource]
  const sets = all.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
  const pods = sets.map(set => ({
    set,
    pod: set.spec.template.spec,
    engine: set.spec.template.spec.containers[0],
  }))

  /**
   * The environment of a container's process: the variables that its pod takes from the ConfigMap and the filled-in
   * Secret.
   */
  function environmentFor({ envFrom, env = [] }: Container): Record<string, string> {
    const filledIn: Record<string, string> = {
      ...stringData,
      ...SECRETS,
    }
    const seen: Record<string, string> = environmentOf(image)
    for (const source of envFrom) Object.assign(seen, 'configMapRef' in source ? data : filledIn)
    for (const { name, value, valueFrom } of env) {
      if (valueFrom) expect(stringData).toHaveProperty(valueFrom.secretKeyRef.key)
      seen[name] = value ?? (filledIn[valueFrom?.secretKeyRef.key as string] as string)
    }
    return seen
  }

  test('names settings that exist, and no secret in the ConfigMap', () => {
    const names = [...Object.keys(data), ...Object.keys(stringData)]
    expect(names.filter(name => !(ENGINE_SETTINGS as readonly string[]).includes(name))).toEqual([])
    expect(Object.keys(data).filter(name => /KEY|STORE|QUEUE|LIMITER/.test(name))).toEqual([])
  })

  test('no engine starts with the template of the Secret', () => {
    expect(() => readConfig({ ...data, ...stringData })).toThrow(ConfigError)
  })

  test('an engine starts with the ConfigMap and a filled-in Secret, each on its store', () => {
    const stores = pods.map(({ set, engine }) => [set.kind, readConfig(environmentFor(engine)).store.kind])
    expect(stores).toEqual([
      ['Deployment', 'postgres'],
      ['StatefulSet', 'sqlite'],
    ])
  })

  test('probes call public operations, at the port that the engine listens on', () => {
    const known = operationList.filter(({ access, method }) => access === 'public' && method === 'GET')
    for (const { engine } of pods) {
      const [port] = engine.ports
      expect(port?.containerPort).toBe(readConfig(environmentFor(engine)).port)
      const probes = [engine.startupProbe, engine.livenessProbe, engine.readinessProbe]
      for (const { httpGet } of probes) {
        expect(known.map(({ path }) => path)).toContain(httpGet.path)
        expect(httpGet.port).toBe(port?.name)
      }
      // A restart repairs no dependency.
      expect(probes.map(({ httpGet }) => httpGet.path)).toEqual(['/healthz', '/healthz', '/readyz'])
    }
  })

  test('a pod may take as long to stop as its engine', () => {
    for (const { pod, engine } of pods) {
      const { drainTimeoutMs } = readConfig(environmentFor(engine))
      const neededMs = engine.lifecycle.preStop.sleep.seconds * 1000 + drainTimeoutMs + HTTP_LIMITS.drainMs
      expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThanOrEqual(neededMs + 5000)
    }
  })

  test('pods run as the user of the image, change nothing but their volumes, and are bounded', () => {
    const user = Number(image.instructions.find(({ word }) => word === 'USER')?.rest.split(':')[0])
    for (const { set, pod, engine } of pods) {
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: user, runAsGroup: user })
      expect(engine.securityContext).toMatchObject({
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
      })
      expect(pod.enableServiceLinks).toBe(false)
      for (const bound of [engine.resources.requests, engine.resources.limits])
        expect(Object.keys(bound)).toEqual(['cpu', 'memory'])
      const claims = (set.spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name)
      expect(engine.volumeMounts.map(({ name }) => name).sort()).toEqual(
        [...pod.volumes.map(({ name }) => name), ...claims].sort(),
      )
    }
    const [, sqlite] = pods
    expect(sqlite?.set.spec.replicas).toBe(1)
    expect(sqlite?.engine.volumeMounts.map(({ mountPath }) => mountPath)).toEqual(
      expect.arrayContaining(listOf(image, 'VOLUME')),
    )
  })

  test('selectors select the pods of their file, and references name things that exist', () => {
    for (const { set, engine } of pods) {
      const { labels } = set.spec.template.metadata
      expect(labels).toMatchObject(set.spec.selector.matchLabels)
      for (const other of all.filter(({ file, kind }) => file === set.file && kind !== set.kind)) {
        const { selector } = other.spec
        expect(labels, other.kind).toMatchObject(selector.matchLabels ?? selector)
        for (const { targetPort } of other.spec.ports ?? []) expect(targetPort).toBe(engine.ports[0]?.name)
      }
      const named = (kind: string) => byKind(kind).map(({ metadata }) => metadata.name)
      for (const source of engine.envFrom)
        if ('configMapRef' in source) expect(named('ConfigMap')).toContain(source.configMapRef.name)
        else expect(named('Secret')).toContain(source.secretRef.name)
      for (const { valueFrom } of engine.env ?? [])
        if (valueFrom) expect(named('Secret')).toContain(valueFrom.secretKeyRef.name)
      if (set.kind === 'StatefulSet') expect(named('Service')).toContain(set.spec.serviceName)
    }
    expect(new Set(pods.map(({ engine }) => engine.image)).size).toBe(1)
    const { version } = JSON.parse(read('packages/engine/package.json')) as { version: string }
    expect(pods[0]?.engine.image).toMatch(new RegExp(`:${version}$`))
  })

  test('every file but the template of the Secret belongs to a kustomization, which names files that exist', () => {
    const kustomizations = all.filter(({ kind }) => kind === 'Kustomization')
    const named = kustomizations.flatMap(({ file, resources }) => resources.map(path => join(dirname(file), path)))
    const folders = kustomizations.map(({ file }) => dirname(file))
    for (const path of named) expect([...files, ...folders]).toContain(path)
    const others = all.filter(({ kind }) => kind !== 'Kustomization' && kind !== 'Secret')
    for (const { file } of others) expect(named).toContain(file)
    for (const shape of ['engine', 'sqlite']) expect(named.filter(path => path === 'shared').length, shape).toBe(2)
  })

  test('the network policy holds for all pods, and leaves open the port of engines and what they call', () => {
    const [{ spec }] = byKind('NetworkPolicy') as unknown as [{ spec: NetworkPolicy }]
    for (const { set, engine } of pods) {
      expect(set.spec.template.metadata.labels).toMatchObject(spec.podSelector.matchLabels)
      expect(spec.ingress.flatMap(({ ports }) => ports.map(({ port }) => port))).toEqual([engine.ports[0]?.name])
    }
    expect(spec.policyTypes).toEqual(['Ingress', 'Egress'])
    const open = spec.egress.flatMap(({ ports = [] }) => ports.map(({ port }) => port))
    const called = ['ENGINE_STORE', 'ENGINE_QUEUE', 'ENGINE_LIMITER'].map(name => new URL(stringData[name] as string))
    for (const { port } of called) expect(open).toContain(Number(port))
    expect(open).toEqual(expect.arrayContaining([53, 443]))
    // HTTP runners of the same namespace listen on separate ports.
    expect(spec.egress).toContainEqual({ to: [{ podSelector: {} }] })
  })

  test('the monitor scrapes the port of every Service, with a token of a Secret that pods do not have', () => {
    const [{ spec }] = byKind('ServiceMonitor') as unknown as [{ spec: ServiceMonitor }]
    const [endpoint] = spec.endpoints
    expect(operationList.map(({ path }) => path)).toContain(endpoint.path)
    const services = byKind('Service')
    expect(services).toHaveLength(2)
    for (const { metadata, spec: service } of services) {
      expect(metadata.labels).toMatchObject(spec.selector.matchLabels)
      expect(service.ports).toContainEqual(expect.objectContaining({ name: endpoint.port }))
    }
    expect(byKind('Secret').map(({ metadata }) => metadata.name)).not.toContain(endpoint.authorization.credentials.name)
  })
})
