// Writes out the types of a declaration file in full. The protocol derives its types from schemas; the published types
// must not require the schema library. Called by `library.ts`.

import ts from 'typescript'

const FORMAT =
  ts.TypeFormatFlags.NoTruncation |
  ts.TypeFormatFlags.InTypeAlias |
  ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope

/** Returns the exports of `files` (`.d.ts`) as the text of one declaration file without imports. */
export function flatTypes(files: readonly string[]): string {
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.es2023.d.ts'],
    types: ['node'],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
  })
  const checker = program.getTypeChecker()
  const exported = files.flatMap(file => {
    const source = program.getSourceFile(file)
    const module = source && checker.getSymbolAtLocation(source)
    if (!module) throw new Error(`${file} is not a module`)
    return checker.getExportsOfModule(module)
  })
  const text = exported.map(symbol => declarationOf(checker, symbol)).join('\n')
  const names = new Set(exported.map(({ name }) => name))
  return `${[text, ...namedTypes(program, text, names)].join('\n')}\n`
}

/**
 * Returns declarations that a written type refers to by name and that are not exported. A type that contains itself needs one.
 */
function namedTypes(program: ts.Program, text: string, exported: ReadonlySet<string>): string[] {
  const own = program.getSourceFiles().filter(({ fileName }) => !fileName.includes('/node_modules/'))
  const declared = own.flatMap(({ statements }) => statements.flatMap(nameAndText))
  const named = new Set<string>()
  const add = (text: string, isNamed: (name: string) => RegExp) => {
    for (const [name, declaration] of declared) {
      if (named.has(declaration) || exported.has(name) || !isNamed(name).test(text)) continue
      named.add(declaration)
      // A declaration that is copied unchanged may refer to others.
      add(declaration, name => new RegExp(`\\b${name}\\b`))
    }
  }
  add(text, name => new RegExp(`[:|] ${name}( [|&]|;)`))
  return [...named]
}

function nameAndText(statement: ts.Statement): [name: string, text: string][] {
  const text = statement.getText().replace(/^export /, '')
  if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) return [[statement.name.text, text]]
  if (!ts.isVariableStatement(statement)) return []
  return statement.declarationList.declarations.map(({ name }) => [name.getText(), text])
}

function declarationOf(checker: ts.TypeChecker, exported: ts.Symbol): string {
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
  const declaration = symbol.declarations?.[0]
  if (!declaration) throw new Error(`${exported.name} is declared nowhere`)
  if (ts.isTypeAliasDeclaration(declaration) && !declaration.typeParameters) {
    const type = checker.typeToString(checker.getDeclaredTypeOfSymbol(symbol), undefined, FORMAT)
    return `export type ${exported.name} = ${type};`
  }
  if (ts.isVariableDeclaration(declaration)) {
    const type = checker.typeToString(checker.getTypeOfSymbol(symbol), undefined, FORMAT)
    return `export declare const ${exported.name}: ${type};`
  }
  return declaration.getText()
}
