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
  return `${exported.map(symbol => declarationOf(checker, symbol)).join('\n')}\n`
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
