// The published declarations, in a project that also checks the declarations of its libraries.

import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

test('declare every type that they name', () => {
  const files = ['index', 'event'].map(name => fileURLToPath(new URL(`../dist/${name}.d.ts`, import.meta.url)))
  const { ES2023: target } = ts.ScriptTarget
  const [module, moduleResolution] = [ts.ModuleKind.NodeNext, ts.ModuleResolutionKind.NodeNext]
  const program = ts.createProgram(files, {
    target,
    module,
    moduleResolution,
    types: ['node'],
    strict: true,
    noEmit: true,
  })
  const sources = program.getSourceFiles().filter(({ fileName }) => files.includes(fileName))
  expect(sources).toHaveLength(2)
  const problems = sources.flatMap(source => program.getSemanticDiagnostics(source))
  expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))).toEqual([])
})
