// compose.yaml as Compose reads it, for the tests that compare it with the code and start its services.

import { yamlDocuments as documents, projectFile } from './deploy-files.ts'

export interface Service {
  build?: { target: string }
  image?: string
  user?: string
  command?: string[]
  environment: Record<string, string>
  depends_on?: Record<string, { condition: string }>
  ports?: string[]
  volumes?: string[]
  healthcheck?: { test: string[] }
  read_only?: boolean
  stop_grace_period?: string
  deploy: { resources: { limits: { cpus: string; memory: string } } }
}

/** The file with its variables replaced, each by a different value, and `$$` by `$`. */
export function readCompose() {
  const text = projectFile('compose.yaml')
  const given: Record<string, string> = {}
  const replaced = text.replace(/\$\{(\w+):\?[^}]*\}/g, (_, name: string) => {
    given[name] ??= `${name.toLowerCase()}-`.padEnd(40, '0')
    return given[name] as string
  })
  const [file] = documents<{ services: Record<string, Service>; volumes: Record<string, null> }>(
    replaced.replaceAll('$$', '$'),
  )
  return { ...(file as NonNullable<typeof file>), text, replaced, given }
}
