// Shared by the tests of compose.yaml and deploy/kubernetes: strict YAML, and the image that both run.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'
import { readDockerfile, type Stage } from './dockerfile.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Reads a file of the project. */
export function projectFile(path: string): string {
  return readFileSync(`${root}/${path}`, 'utf8')
}

/** The documents of a YAML file. Throws when the parser reports an error or a warning. */
export function yamlDocuments<T>(text: string): T[] {
  return parseAllDocuments(text, { strict: true, uniqueKeys: true }).map(document => {
    const [problem] = [...document.errors, ...document.warnings]
    if (problem) throw problem
    return document.toJS() as T
  })
}

/** The stages of the Dockerfile; the last one is the engine's image. */
export function imageStages(): { stages: Stage[]; image: Stage } {
  const stages = readDockerfile(projectFile('Dockerfile'))
  return { stages, image: stages.at(-1) as Stage }
}
